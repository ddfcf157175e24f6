/** The scroll position of a grid, which lib/row-window.ts maps to rows. */
import { useEffect, useState } from 'react';
import {
  AT_START,
  drawn,
  MAX_PX,
  reveal,
  ROW_PX,
  type Scroll,
  scrolled,
  scrollTo,
} from '../../lib/row-window';

/** Height of the column header with its border. */
const HEAD_PX = 31;

export function useScroll(rows: number) {
  const [element, setElement] = useState<HTMLDivElement | null>(null);
  const [stored, setScroll] = useState(AT_START);
  const [view, setView] = useState(600);
  const size = { rows, view };
  const scroll = rows * ROW_PX <= MAX_PX ? { top: stored.top, offset: 0 } : stored;

  useEffect(() => {
    if (!element) return;
    const observer = new ResizeObserver(() => setView(Math.max(ROW_PX, element.clientHeight - HEAD_PX)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);

  const apply = (next: Scroll): void => {
    setScroll(next);
    if (element && element.scrollTop !== next.top) element.scrollTop = next.top;
  };
  return {
    element,
    /** The ref of the element. */
    attach: setElement,
    offset: scroll.offset,
    view: drawn(scroll, size),
    onScroll: (): void => {
      const top = element?.scrollTop ?? 0;
      if (top !== scroll.top) apply(scrolled(scroll, top, size));
    },
    /** Brings a row into view. */
    toRow: (row: number): void => apply(scrollTo(reveal(scroll, row, view), size)),
    toStart: (): void => apply(AT_START),
  };
}

export type Scroller = ReturnType<typeof useScroll>;
