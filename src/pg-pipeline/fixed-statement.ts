/** Statements that are sent with every request, and are written only once. */
import { MessageWriter } from './message-writer';
import { TEXT } from './protocol';
import type { RowSink } from './row-sink';
import type { Statement } from './statement';

const IGNORE_ROWS: RowSink = { onRow: () => undefined };

/** A named statement without values. @param sink of its rows, as text; by default they are dropped */
export function fixedStatement(name: string, text: string, sink: RowSink = IGNORE_ROWS): Statement {
  const writer = new MessageWriter();
  writer.bind(name, [], [TEXT]);
  writer.execute();
  return { name, text, sink, messages: writer.take() };
}
