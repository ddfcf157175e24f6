/** The output of the prepare stage: the statements of one request with its values, and what the later stages need of its plan. */
import type { Catalog } from '../catalog/catalog';
import type { BoundRequest } from '../compile/bind';
import type { RequestValues } from '../compile/parameter';
import type { QueryValues } from '../grammar/query-values';
import type { RequestShape } from '../grammar/rest-request';
import type { RequestPlan } from '../plan/plan';

/** The catalog that a request is prepared on. */
export interface CatalogSnapshot {
  readonly catalog: Catalog;
  /** False while the schema is changing: nothing that depends on it is kept, and PostgreSQL prints the rows. */
  readonly isSettled: boolean;
}

export interface PreparedRequest {
  readonly shape: RequestShape;
  /** The query's parameters as they were written. */
  readonly parameters: QueryValues['parameters'];
  /** Shared with other requests of the shape. */
  readonly plan: RequestPlan;
  readonly statements: BoundRequest;
  /** This request's values for the parameters of its statements; the body in them is JSON of a write, any text of a call. */
  readonly values: RequestValues;
  readonly bodyIsList: boolean;
  readonly catalog: Catalog;
  /** The schema in which names without one are looked up. */
  readonly schema: string;
  /** The same where the project exposes several, for Content-Profile; null where there is no choice. */
  readonly profile: string | null;
}
