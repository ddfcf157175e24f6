/** Scopes of personal access tokens. A token has exactly those that it names; none includes another. */
export const SCOPES = ['read', 'write', 'sql', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];
