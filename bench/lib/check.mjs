// Only right answers count: before a workload is measured, each contestant answers it once.
import { UNTOLD } from './contestants.mjs';

/** Characters of an answer that are shown. */
const SHOWN = 300;
const MOST_TRIES = 100;

/**
 * Those of the contestants whose first answer is what the workload's SQL gives; the others are named with the reason.
 * @param reference as contestants.mjs gives it
 * @param tell takes a line about one that is left out
 */
export async function rightOnes(contestants, workload, reference, tell) {
  const right = [];
  for (const contestant of contestants) {
    const fault = await faultOf(contestant, workload, reference);
    if (fault === null) right.push(contestant);
    else tell(`${workload.name}: ${contestant.name} is left out, because ${fault}`);
  }
  return right;
}

/** Null for a right answer. */
async function faultOf({ first }, workload, reference) {
  try {
    const { drawn, expected } = await example(workload, reference);
    const answer = await first(workload, drawn);
    if (answer === UNTOLD || workload.isRight(answer, expected)) return null;
    return `it answered ${shown(answer)} where ${shown(expected)} is right`;
  } catch (error) {
    return error.message;
  }
}

/** A request with the answer to it, null where it has none. One without rows would tell nothing, and some rows are hidden. */
async function example(workload, reference) {
  for (let tries = 1; ; tries += 1) {
    const drawn = workload.draw();
    const expected = workload.showsRows ? await reference.answer(workload, drawn) : null;
    if (expected === null || expected.length > 0) return { drawn, expected };
    if (tries === MOST_TRIES) throw new Error('no request that was drawn finds a row');
  }
}

function shown(value) {
  const text = JSON.stringify(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
}
