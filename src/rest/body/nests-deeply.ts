/** Levels; PostgreSQL's default stack holds a few thousand. */
const DEEP = 1_000;

/** Whether JSON nests so deeply that PostgreSQL's parser may run out of stack. Only called after it did. */
export function nestsDeeply(json: string | Buffer): boolean {
  const text = json.toString();
  let depth = 0;
  let inText = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '\\') at += 1;
    else if (character === '"') inText = !inText;
    else if (inText) continue;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > DEEP) return true;
  }
  return false;
}
