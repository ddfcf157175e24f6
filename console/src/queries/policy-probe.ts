/** Evaluates the policies of a project for a row, with the documented SQL call of the administration API. */
import { type Identity, projectHeaders } from '../api/identity';
import { messageOf } from '../api/errors';
import {
  COMMANDS,
  expressionsSql,
  type Facts,
  factsSql,
  type Identified,
  type Judged,
  type Outcome,
} from '../lib/policy-probe';
import { createPolicySql, type PolicyDraft } from '../lib/policy-templates';
import type { Values } from '../lib/pending-changes';
import type { Policy, Relation } from './catalog-types';
import { type Project, runSql } from './projects';
import { rowBody } from './rows';

/** An expression that takes longer is not suitable for a policy. */
const LIMITS = { timeout_seconds: 10, max_rows: 1 };

interface Probe {
  readonly identified: Identified;
  readonly facts: Facts;
  readonly judged: readonly Judged[];
}

export async function probePolicies(
  project: Project,
  relation: Relation,
  identity: Identity,
  row: Values,
): Promise<Probe> {
  const { policies } = relation;
  const identified = await identify(project, identity);
  const { rows } = await runSql(project.id, factsSql(relation, policies, identified), LIMITS);
  const answer = (rows[0] ?? {}) as Record<string, boolean>;
  const expressions = policies.flatMap(({ using, check }) => [using, check]);
  const values = await evaluate(project, relation, expressions, { row, identified });
  return {
    identified,
    facts: {
      bypasses: answer.bypasses === true,
      privileges: {
        SELECT: answer.SELECT === true,
        INSERT: answer.INSERT === true,
        UPDATE: answer.UPDATE === true,
        DELETE: answer.DELETE === true,
      } satisfies Record<(typeof COMMANDS)[number], boolean>,
    },
    judged: policies.map((policy, index) => ({
      policy,
      outcome: {
        applies: answer[`applies${index}`] === true,
        using: values[2 * index] ?? null,
        check: values[2 * index + 1] ?? null,
      },
    })),
  };
}

interface Subject {
  readonly row: Values;
  readonly identified: Identified;
}

/**
 * Evaluates all expressions in one statement. If one fails, it evaluates each separately, so that each has its own
 * message.
 */
async function evaluate(
  project: Project,
  relation: Relation,
  expressions: readonly (string | null)[],
  { row, identified }: Subject,
): Promise<Outcome[]> {
  const json = rowBody(relation.columns, row);
  const run = async (some: readonly string[]): Promise<Outcome[]> => {
    if (some.length === 0) return [];
    const { rows } = await runSql(project.id, expressionsSql(relation, some, json, identified), LIMITS);
    const values = (rows[0] ?? {}) as Record<string, boolean | null>;
    return some.map((_, index) => values[`value${index}`] ?? null);
  };
  const alone = async (one: string): Promise<Outcome> =>
    run([one]).then(
      ([value]) => value ?? null,
      (error: unknown) => ({ error: messageOf(error) }),
    );
  const present = expressions.filter((one) => one !== null);
  const values = await run(present).catch(() => Promise.all(present.map(alone)));
  let next = 0;
  return expressions.map((one) => (one === null ? null : (values[next++] ?? null)));
}

/** The role and the claims of a token of the identity, as table REST reads them. */
async function identify(project: Project, identity: Identity): Promise<Identified> {
  const { Authorization: header = '' } = await projectHeaders(project.id, identity);
  const claims = payloadOf(header.replace(/^Bearer /, '')) ?? { role: identity.as };
  return { role: typeof claims.role === 'string' ? claims.role : 'anon', claims };
}

function payloadOf(token: string): Record<string, unknown> | null {
  const [, payload] = token.split('.');
  if (payload === undefined) return null;
  const bytes = Uint8Array.from(atob(payload.replaceAll('-', '+').replaceAll('_', '/')), (one) =>
    one.charCodeAt(0),
  );
  return JSON.parse(new TextDecoder().decode(bytes)) as Record<string, unknown>;
}

/** Creates the policy in a transaction that is rolled back. @throws ApiError with PostgreSQL's message and place */
export async function checkPolicy(
  project: Project,
  { schema, name }: Relation,
  draft: PolicyDraft,
  replaced: Policy | null,
): Promise<void> {
  // Uses another name, because the policy to be replaced still exists.
  const trial = replaced ? { ...draft, name: `${draft.name.slice(0, 50)} (trial)` } : draft;
  await runSql(project.id, `begin;\n${createPolicySql(schema, name, trial)}\nrollback;`, LIMITS);
}
