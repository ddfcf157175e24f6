/** The output of the prepare stage: the statements of one request with its values, and what the later stages need of its plan. */
import type { Catalog } from '../catalog/catalog';
import type { BoundRequest } from '../compile/bind';
import type { RequestValues } from '../compile/parameter';
import type { RestRequest } from '../grammar/rest-request';
import type { RequestPlan } from '../plan/plan';

/** The catalog that a request is prepared on. */
export interface CatalogSnapshot {
  readonly catalog: Catalog;
  /** False while the schema is changing: nothing that depends on it is kept, and PostgreSQL prints the rows. */
  readonly isSettled: boolean;
}

export interface PreparedRequest {
  readonly request: RestRequest;
  /** May have been made for another request of the same shape: the values in it are not to be read. */
  readonly plan: RequestPlan;
  readonly statements: BoundRequest;
  /** The values of this request for the parameters of its statements. */
  readonly values: RequestValues;
  readonly catalog: Catalog;
  /** The schema in which names without one are looked up. */
  readonly schema: string;
  /** The same where the project exposes several, for Content-Profile; null where there is no choice. */
  readonly profile: string | null;
  /** As the statements take it: JSON of a write, any text of a call. */
  readonly body: string | Buffer | null;
  readonly bodyIsList: boolean;
}
