/** A statement for the RLS door, and its result. */
export type { Statement, StatementResult } from '../pg-pipeline';
