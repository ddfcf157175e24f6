/** For clients whose answers are unions by status: the status narrows the type of the body. */
import type { Failure } from './steps';

interface Answer {
  readonly status: number;
  readonly data?: unknown;
}

type Of<A extends Answer, Status extends number> = Extract<A, { status: Status }>;

/** The body of one of the expected statuses. */
export function ok<A extends Answer, Status extends number>(
  answer: A,
  ...statuses: [Status, ...Status[]]
): Of<A, Status>['data'] {
  if (!hasStatus(answer, statuses)) throw new Error(JSON.stringify(answer));
  return answer.data;
}

export function failed<A extends Answer, Status extends number>(
  answer: A,
  status: Status,
): Failure<Of<A, Status>['data']> {
  return { status: answer.status, error: ok(answer, status) };
}

function hasStatus<A extends Answer, Status extends number>(
  answer: A,
  statuses: readonly Status[],
): answer is Of<A, Status> {
  return statuses.some((status) => status === answer.status);
}
