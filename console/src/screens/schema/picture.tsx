/**
 * The picture of a schema. The wheel zooms, a drag moves the picture or a table, arrow keys move a focused table, Enter
 * opens it.
 */
import { type KeyboardEvent, type PointerEvent, type RefObject, useEffect, useMemo, useState } from 'react';
import type { Relation } from '../../queries/catalog-types';
import { useT } from '../../i18n';
import { shortType } from '../../lib/type-name';
import {
  BOX_PX,
  type Edge,
  edgesOf,
  HEAD_PX,
  heightOf,
  idOf,
  LINE_PX,
  type Point,
  SHOWN_COLUMNS,
} from '../../lib/schema-layout';
import styles from './schema.module.css';

const STEP_PX = 20;
const LOOP_PX = 36;
const ZOOM = { least: 0.1, most: 3, step: 1.15 };
const NAME_CHARACTERS = 24;
const TYPE_CHARACTERS = 14;

type Places = ReadonlyMap<string, Point>;

interface PictureProps {
  readonly svg: RefObject<SVGSVGElement | null>;
  readonly tables: readonly Relation[];
  readonly places: Places;
  readonly onMove: (table: Relation, place: Point) => void;
  readonly onOpen: (table: Relation) => void;
}

interface View extends Point {
  readonly scale: number;
}

export function Picture({ svg, tables, places, onMove, onOpen }: PictureProps) {
  const t = useT();
  const [view, setView] = useState<View>({ x: 20, y: 20, scale: 1 });
  const edges = useMemo(() => edgesOf(tables), [tables]);
  const byId = useMemo(() => new Map(tables.map((one) => [idOf(one), one])), [tables]);

  // All tables are initially in view.
  useEffect(() => {
    const { clientWidth, clientHeight } = svg.current!;
    setView(fitting(tables, places, clientWidth, clientHeight));
    // Later moves of tables leave the view as it is.
  }, []);

  // React listens to wheel events passively, but a zoom must prevent the page from scrolling.
  useEffect(() => {
    const element = svg.current!;
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      const factor = event.deltaY < 0 ? ZOOM.step : 1 / ZOOM.step;
      setView((old) => zoomed(old, factor, { x: event.clientX - left, y: event.clientY - top }));
    };
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, [svg]);

  const pan = (event: PointerEvent<SVGSVGElement>): void => {
    follow(event, (dx, dy) => setView({ ...view, x: view.x + dx, y: view.y + dy }));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const factor = { '+': ZOOM.step, '-': 1 / ZOOM.step }[event.key];
    if (factor === undefined) return;
    const { clientWidth, clientHeight } = svg.current!;
    setView(zoomed(view, factor, { x: clientWidth / 2, y: clientHeight / 2 }));
  };
  return (
    <svg
      ref={svg}
      className={styles.picture}
      role="group"
      aria-label={t('schemaPicture')}
      tabIndex={0}
      onPointerDown={pan}
      onKeyDown={onKeyDown}
    >
      <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
        {edges.map((edge) => (
          <path
            key={`${edge.from} ${edge.name}`}
            className={styles.edge}
            fill="none"
            d={pathOf(edge, places, byId)}
          />
        ))}
        {tables.map((table) => (
          <Box
            key={idOf(table)}
            table={table}
            place={places.get(idOf(table))!}
            scale={view.scale}
            onMove={(place) => onMove(table, place)}
            onOpen={() => onOpen(table)}
          />
        ))}
      </g>
    </svg>
  );
}

interface BoxProps {
  readonly table: Relation;
  readonly place: Point;
  readonly scale: number;
  readonly onMove: (place: Point) => void;
  readonly onOpen: () => void;
}

function Box({ table, place, scale, onMove, onOpen }: BoxProps) {
  const keys = new Set(table.foreignKeys.flatMap(({ columns }) => columns));
  const shown = table.columns.slice(0, SHOWN_COLUMNS);
  const more = table.columns.length - shown.length;
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, [number, number]> = {
      ArrowLeft: [-STEP_PX, 0],
      ArrowRight: [STEP_PX, 0],
      ArrowUp: [0, -STEP_PX],
      ArrowDown: [0, STEP_PX],
    };
    const step = steps[event.key];
    if (step) onMove({ x: place.x + step[0], y: place.y + step[1] });
    else if (event.key === 'Enter') onOpen();
    else return;
    event.preventDefault();
  };
  return (
    <g
      className={styles.box}
      transform={`translate(${place.x} ${place.y})`}
      onKeyDown={onKeyDown}
      onDoubleClick={onOpen}
      onPointerDown={(event) => {
        event.stopPropagation();
        follow(event, (dx, dy) => onMove({ x: place.x + dx / scale, y: place.y + dy / scale }));
      }}
    >
      <title>{table.name}</title>
      <g role="button" tabIndex={0} className={styles.button}>
        <rect className={styles.frame} width={BOX_PX} height={heightOf(table)} rx={6} />
        <text className={styles.title} x={10} y={20}>
          {shortened(table.name, NAME_CHARACTERS)}
        </text>
      </g>
      <line className={styles.line} x1={0} x2={BOX_PX} y1={HEAD_PX} y2={HEAD_PX} />
      {shown.map((column, index) => {
        const y = HEAD_PX + (index + 1) * LINE_PX - 5;
        const isKey = table.primaryKey.includes(column.name);
        return (
          <g key={column.name}>
            <text className={isKey ? styles.key : styles.column} x={10} y={y}>
              {shortened(column.name, NAME_CHARACTERS - 6)}
              {keys.has(column.name) ? ' →' : ''}
            </text>
            <text className={styles.type} x={BOX_PX - 10} y={y} textAnchor="end">
              {shortened(shortType(column.type), TYPE_CHARACTERS)}
            </text>
          </g>
        );
      })}
      {more > 0 ? (
        <text className={styles.type} x={10} y={HEAD_PX + (shown.length + 1) * LINE_PX - 5}>
          + {more}
        </text>
      ) : null}
    </g>
  );
}

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** Calls back with the distance from the start until the button is released. */
function follow(event: PointerEvent<SVGElement>, onMove: (dx: number, dy: number) => void): void {
  const element = event.currentTarget;
  const { clientX, clientY, pointerId } = event;
  element.setPointerCapture(pointerId);
  element.onpointermove = (moved) => onMove(moved.clientX - clientX, moved.clientY - clientY);
  element.onpointerup = element.onpointercancel = () => {
    element.onpointermove = element.onpointerup = element.onpointercancel = null;
  };
}

/** Scales around a point of the element, which keeps its position. */
function zoomed({ x, y, scale }: View, factor: number, at: Point): View {
  const next = Math.min(ZOOM.most, Math.max(ZOOM.least, scale * factor));
  const real = next / scale;
  return { scale: next, x: at.x - (at.x - x) * real, y: at.y - (at.y - y) * real };
}

function fitting(tables: readonly Relation[], places: Places, width: number, height: number): View {
  const boxes = tables.map((one) => ({ ...places.get(idOf(one))!, height: heightOf(one) }));
  const right = Math.max(...boxes.map(({ x }) => x + BOX_PX));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  const scale = Math.min(1, (width - 40) / right, (height - 40) / bottom);
  return { x: 20, y: 20, scale: Math.max(ZOOM.least, scale) };
}

/** A line from the right side of the referenced table to the left side of the referring table. */
function pathOf({ from, to }: Edge, places: Places, tables: ReadonlyMap<string, Relation>): string {
  const target = places.get(to)!;
  const source = places.get(from)!;
  const startY = target.y + heightOf(tables.get(to)!) / 2;
  const endY = source.y + heightOf(tables.get(from)!) / 2;
  if (from === to) return loopOf(target, endY);
  const isLeft = target.x <= source.x;
  const startX = isLeft ? target.x + BOX_PX : target.x;
  const endX = isLeft ? source.x : source.x + BOX_PX;
  const bend = Math.max(30, Math.abs(endX - startX) / 2) * (isLeft ? 1 : -1);
  return `M${startX} ${startY}C${startX + bend} ${startY} ${endX - bend} ${endY} ${endX} ${endY}`;
}

/** A loop at the right side of a table that refers to itself. */
function loopOf({ x, y }: Point, middle: number): string {
  const [right, head] = [x + BOX_PX, y + HEAD_PX / 2];
  return `M${right} ${head}C${right + LOOP_PX} ${head} ${right + LOOP_PX} ${middle} ${right} ${middle}`;
}
