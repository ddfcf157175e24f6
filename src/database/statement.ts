/** A statement for the RLS door, and what it answers. */
export type { Statement, StatementResult } from '../pg-pipeline';
