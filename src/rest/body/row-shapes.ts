/**
 * The member names of the rows of a body. Nearly all bodies have rows of one shape, so each row is compared with the row before
 * it, name by name; an equal row costs nothing more.
 */

/** Maximum number of names in all shapes together: far more than any table has columns (1,600), or any function has arguments. */
const MAX_NAMES = 100_000;

export class RowShapes {
  /** The names of each shape. Shapes are in the order of their first rows. */
  readonly shapes: (readonly string[])[] = [];
  /** True if there were more names than are kept. Even then the first row's names are kept, up to the limit. */
  isCut = false;
  private rows = 0;
  /** The index in `shapes` for each row; empty while all rows have the first shape. */
  private readonly ofRows: number[] = [];
  private readonly numbers = new Map<string, number>();
  private names = 0;
  /** The shape of the previous row, and how many of its names the current row has had so far. */
  private last = 0;
  private alike = 0;
  /** The current row's names, once they differ from the names of the previous row; null until then. */
  private own: Set<string> | null = null;

  /** The shapes of `count` rows that are known to have the same names. */
  static alike(names: readonly string[], count: number): RowShapes {
    const rows = new RowShapes();
    if (count > 0) rows.enter(names);
    rows.rows = count;
    return rows;
  }

  /** Number of rows. */
  get count(): number {
    return this.rows;
  }

  /** Adds a member to the current row; the same name may be added more than once. */
  name(name: string): void {
    const before = this.shapes[this.last];
    if (this.own === null && before?.[this.alike] === name) {
      this.alike += 1;
      return;
    }
    this.own ??= new Set(before?.slice(0, this.alike));
    if (this.own.size < MAX_NAMES) this.own.add(name);
    else this.isCut = true;
  }

  /** Ends the current row. */
  endRow(): void {
    const before = this.shapes[this.last];
    if (this.own !== null || this.alike !== before?.length) {
      this.enter([...(this.own ?? before?.slice(0, this.alike) ?? [])]);
      this.own = null;
    }
    if (this.ofRows.length > 0) this.ofRows.push(this.last);
    this.rows += 1;
    this.alike = 0;
  }

  addRow(row: object): void {
    for (const name in row) this.name(name);
    this.endRow();
  }

  /** All names, in the order of their first appearance in the body. */
  allNames(): string[] {
    return [...new Set(this.shapes.flat())];
  }

  /**
   * The positions of the rows in the body, counted from 1, grouped by the key of their shape.
   * @param keys the key of each shape, in the order of `shapes`
   */
  positions(keys: readonly string[]): Map<string, number[]> {
    const positions = new Map(keys.map((key): [string, number[]] => [key, []]));
    const lists = keys.map((key) => positions.get(key));
    for (let row = 0; row < this.rows; row += 1) lists[this.ofRows[row] ?? 0]?.push(row + 1);
    return positions;
  }

  private enter(names: readonly string[]): void {
    const key = JSON.stringify([...names].sort());
    let number = this.numbers.get(key);
    if (number === undefined) {
      this.names += names.length + 1;
      if (this.names > MAX_NAMES) this.isCut = true;
      if (this.isCut && this.shapes.length > 0) return;
      number = this.shapes.push(names) - 1;
      this.numbers.set(key, number);
      // All rows so far had the first shape.
      if (number === 1) for (let row = 0; row < this.rows; row += 1) this.ofRows.push(0);
    }
    this.last = number;
  }
}
