export { type CapabilityDefinition, checkSchemas, readDefinitions } from './capability-definition.ts';
export type { CapabilityMeaning } from './capability-meaning.ts';
export {
  checkCapabilityName,
  MAX_SEGMENT_LENGTH,
  type NameCheck,
  nameAsWords,
  type ParseNameOptions,
  parseCapabilityName,
  segmentsOf,
} from './capability-name.ts';
export { type CapabilityText, type CapabilityTextKind, capabilityTexts } from './capability-text.ts';
export {
  type Admission,
  CapabilityDictionary,
  type DictionaryEntry,
  type DictionaryMode,
  type DictionaryStatus,
  type ListEntriesOptions,
  type Registrant,
} from './dictionary.ts';
export {
  assertInputSchemas,
  type InputSchema,
  MAX_SCHEMA_BYTES,
  MAX_SCHEMAS_BYTES,
  type PlacedSchema,
} from './input-schema.ts';
export { unionMeaning } from './meaning-union.ts';
export { nearDuplicateNames } from './name-lint.ts';
export { suggestNames } from './name-suggestion.ts';
