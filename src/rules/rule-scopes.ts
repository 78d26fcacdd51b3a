/** Which scopes let a caller reach what a rule, or an exact name, points at. */

/** Holders of this scope may reach every sensitive capability that no rule guards with a scope of its own. */
const SENSITIVE_SCOPE = 'sensitive';
const EVERY_SCOPE = '*';

/** Any one of them is enough; empty: everybody may. */
export function scopesFor(capability: string, isSensitive: boolean, requireScope: string | null): readonly string[] {
  if (requireScope !== null) return [requireScope];
  return isSensitive ? [SENSITIVE_SCOPE, capability] : [];
}

export function mayReach(held: ReadonlySet<string>, needed: readonly string[]): boolean {
  return needed.length === 0 || held.has(EVERY_SCOPE) || needed.some((scope) => held.has(scope));
}
