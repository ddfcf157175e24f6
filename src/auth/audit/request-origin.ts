/** Where a request came from, for the audit trail, the list of sessions and throttling. */
export interface RequestOrigin {
  /** The client's address as Express knows it under TRUST_PROXY. */
  readonly ip: string;
  readonly userAgent: string | null;
  /** Language tags that the request prefers, the most wanted first. */
  readonly languages: readonly string[];
}
