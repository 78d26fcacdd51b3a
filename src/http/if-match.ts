/** An edit guarded by the version that it is based on: `If-Match` sends back what `ETag` gave. */
import { AgentReachError } from '../core/index.ts';
import type { ReadHeader } from './api-keys.ts';
import type { HeaderDoc } from './endpoint.ts';

export interface Edit<Version> {
  readonly by: string;
  readonly expectedVersion?: Version;
}

export interface VersionForm<Version> {
  /** What the version is called. */
  readonly of: string;
  readonly example: string;
  readonly form: RegExp;
  readonly read: (text: string) => Version;
}

export interface EditGuard<Version> {
  readonly header: HeaderDoc;
  /** Error: AR_ERR_INVALID_REQUEST. */
  editOf(by: string, header: ReadHeader): Edit<Version>;
}

export function editGuard<Version>({ of, example, form, read }: VersionForm<Version>): EditGuard<Version> {
  const written = new RegExp(`^(?:W/)?"?(${form.source})"?$`);
  return {
    header: {
      name: 'If-Match',
      description: `The ${of} that the edit is based on, as ETag gave it; another one in force refuses it.`,
      example: `"${example}"`,
    },
    editOf(by, header) {
      const sent = header('if-match')?.trim();
      if (sent === undefined || sent === '*') return { by };
      const version = written.exec(sent)?.[1];
      if (version !== undefined) return { by, expectedVersion: read(version) };
      const message = `must be a ${of}, for example "${example}"`;
      throw new AgentReachError('AR_ERR_INVALID_REQUEST', {
        detail: `headers.If-Match: ${message}`,
        issues: [{ path: 'headers.If-Match', message }],
      });
    },
  };
}

export const RULES_EDIT = editGuard({ of: 'rules version', example: '7', form: /\d{1,15}/, read: Number });
