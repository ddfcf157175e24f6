/** For clients whose answers are unions by status: the status narrows the type of the body. */
import type { Failure } from './steps';

interface Answer {
  readonly status: number;
  readonly data?: unknown;
}

type Body<A extends Answer, Status extends number> =
  Extract<A, { status: Status }> extends { data: infer Data } ? Data : never;

/** The body of one of the expected statuses. */
export function ok<A extends Answer, Status extends number>(
  answer: A,
  ...statuses: [Status, ...Status[]]
): Body<A, Status> {
  if (!statuses.some((status) => status === answer.status)) throw new Error(JSON.stringify(answer));
  return answer.data as Body<A, Status>;
}

export function failed<A extends Answer, Status extends number>(
  answer: A,
  status: Status,
): Failure<Body<A, Status>> {
  return { status: answer.status, error: ok(answer, status) };
}
