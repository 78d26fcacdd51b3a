/** The value of a parsed YAML document, or one line on what is wrong with it; structural, so that no parser is loaded. */
import { errorText } from './errors.ts';

interface YamlDocument {
  readonly errors: readonly { readonly message: string; readonly code: string }[];
  toJS(): unknown;
}

/** Throws a plain Error: whose fault a broken file is, its reader knows. */
export function yamlValue(document: YamlDocument, shownPath: string): unknown {
  const first = document.errors[0];
  if (first !== undefined) {
    const reason = first.message.split('\n', 1)[0]?.replace(/:$/, '') ?? first.code;
    throw new Error(`${shownPath} is not well-formed YAML: ${reason}`, { cause: first });
  }
  try {
    return document.toJS();
  } catch (error) {
    throw new Error(`${shownPath}: ${errorText(error)}`, { cause: error });
  }
}
