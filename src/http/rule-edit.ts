/** Who edits the rules, and the version that they have seen: `If-Match` guards an edit with what `ETag` gave. */
import { AgentReachError } from '../core/index.ts';
import type { ReadHeader } from './api-keys.ts';
import type { HeaderDoc } from './endpoint.ts';

export const IF_MATCH: HeaderDoc = {
  name: 'If-Match',
  description: 'The rules version that the edit is based on, as ETag gave it; another current version refuses it.',
  example: '"7"',
};

/** Error: AR_ERR_INVALID_REQUEST. */
export function editOf(by: string, header: ReadHeader): { readonly by: string; readonly expectedVersion?: number } {
  const sent = header('if-match')?.trim();
  if (sent === undefined || sent === '*') return { by };
  const digits = /^(?:W\/)?"?(\d{1,15})"?$/.exec(sent)?.[1];
  if (digits !== undefined) return { by, expectedVersion: Number(digits) };
  const issues = [{ path: 'headers.If-Match', message: 'must be a rules version, for example "7"' }];
  throw new AgentReachError('AR_ERR_INVALID_REQUEST', { issues });
}
