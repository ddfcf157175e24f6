/** The client of a request, for the audit trail, the list of sessions, throttling and the language of mails. */
export interface RequestOrigin {
  /** The client's address as Express reports it under TRUST_PROXY. */
  readonly ip: string;
  readonly userAgent: string | null;
  /** Language tags of Accept-Language, in order of preference. */
  readonly languages: readonly string[];
}
