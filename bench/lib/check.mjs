// Checks the first response of each contestant to a workload, before the workload is measured.
import { NOT_SHOWN } from './contestants.mjs';

/** Characters of a response that are printed. */
const SHOWN = 300;
const MAX_TRIES = 100;

/**
 * The contestants whose first response equals the result of the workload's SQL.
 * @param reference from contestants.mjs
 * @param log called with a line about each other contestant
 */
export async function withRightAnswer(contestants, workload, reference, log) {
  const right = [];
  for (const contestant of contestants) {
    const fault = await faultOf(contestant, workload, reference);
    if (fault === null) right.push(contestant);
    else log(`${workload.name}: ${contestant.name} is left out, because ${fault}`);
  }
  return right;
}

/** Returns null if the response is right. */
async function faultOf({ first }, workload, reference) {
  try {
    const { drawn, expected } = await example(workload, reference);
    const answer = await first(workload, drawn);
    if (answer === NOT_SHOWN || workload.isRight(answer, expected)) return null;
    return `it answered ${shown(answer)} where ${shown(expected)} is right`;
  } catch (error) {
    return error.message;
  }
}

/** A request and its expected rows (null if it returns none). Draws until there are rows, because policies hide some of them. */
async function example(workload, reference) {
  for (let tries = 1; ; tries += 1) {
    const drawn = workload.draw();
    const expected = workload.showsRows ? await reference.answer(workload, drawn) : null;
    if (expected === null || expected.length > 0) return { drawn, expected };
    if (tries === MAX_TRIES) throw new Error('none of the drawn requests finds a row');
  }
}

function shown(value) {
  const text = JSON.stringify(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
}
