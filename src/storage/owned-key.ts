/** The key of a record that each owner has of its own where several share the store, and that is one record else. */
export const ownedKey = (key: string, owner: string | undefined): string =>
  owner === undefined ? key : `${key}:${owner}`;
