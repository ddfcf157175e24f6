/** The client of a request, for the audit trail, the list of sessions, throttling and the language of mails. */
import type { Project } from '../projects/project';

export interface RequestOrigin {
  /** The client's address as Express reports it under TRUST_PROXY. */
  readonly ip: string;
  readonly userAgent: string | null;
  /** Language tags of Accept-Language, in order of preference. */
  readonly languages: readonly string[];
}

/** The client of a request to a project. */
export interface Sender {
  readonly project: Project;
  readonly origin: RequestOrigin;
}
