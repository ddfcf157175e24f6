/** The menu of a column: sort, pin, width, hide, and changes of the table. */
import { Menu } from '@mantine/core';
import { useLayoutEffect, useRef } from 'react';
import { useT } from '../../i18n';
import type { GridQuery, Row } from '../../lib/grid-query';
import type { Column, Relation } from '../../queries/catalog-types';
import { Icon } from '../../ui/icon';
import styles from './grid.module.css';
import type { Change } from './structure-dialogs';
import type { GridColumns } from './use-columns';
import type { Selection } from './use-selection';

export interface GridHeaderProps {
  readonly relation: Relation;
  readonly columns: GridColumns;
  readonly query: GridQuery;
  readonly onQuery: (query: GridQuery) => void;
  readonly loaded: readonly Row[];
  /** Null if rows cannot be selected. */
  readonly selection: Selection | null;
  /** The column whose menu is open. */
  readonly menu: string | null;
  readonly onMenu: (column: string | null) => void;
  /** Changes the table; null if the staff member may not. */
  readonly onChange: ((change: Change) => void) | null;
}

/** Types that PostgreSQL cannot sort. */
const UNSORTABLE = new Set(['json', 'xml', 'point', 'polygon', 'box', 'path', 'line']);

export const isSortable = ({ type }: Column): boolean => !UNSORTABLE.has(type);

interface ColumnMenuProps extends GridHeaderProps {
  readonly column: Column;
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
}

/** Pixels of one step by the keyboard. */
const STEP_PX = 40;

export function ColumnMenu(props: ColumnMenuProps) {
  const { column, isOpen, onToggle } = props;
  const t = useT();
  const button = (
    <button
      type="button"
      className={styles.menu}
      aria-label={t('columnMenu', { name: column.name })}
      aria-haspopup="menu"
      aria-expanded={isOpen}
      onClick={() => onToggle(!isOpen)}
    >
      <Icon name="chevron" size={15} />
    </button>
  );
  // A table can have hundreds of columns, so only the open menu is created.
  return isOpen ? <OpenMenu {...props}>{button}</OpenMenu> : button;
}

function OpenMenu({ children, ...props }: ColumnMenuProps & { readonly children: React.ReactNode }) {
  const { column, onToggle, onChange } = props;
  const anchor = useRef<HTMLDivElement>(null);
  // Returns the focus immediately, so that the next key is not lost. A dialog that an item opens takes the
  // focus afterwards.
  useLayoutEffect(() => {
    const grid = anchor.current?.closest<HTMLElement>('[role=grid]');
    return () => grid?.focus({ preventScroll: true });
  }, []);
  return (
    <div ref={anchor} className={styles.anchor}>
      <Menu
        opened
        onChange={(isOpen) => onToggle(isOpen)}
        position="bottom-end"
        returnFocus={false}
        withInitialFocusPlaceholder={false}
        // Must not include the key that opens the menu.
        clickOutsideEvents={['mousedown', 'touchstart']}
        width={210}
      >
        <Menu.Target>{children}</Menu.Target>
        <Menu.Dropdown>
          {isSortable(column) ? <SortItems {...props} /> : null}
          <LayoutItems {...props} />
          {onChange ? <ChangeItems column={column} onChange={onChange} /> : null}
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}

function SortItems({ column, query, onQuery }: ColumnMenuProps) {
  const t = useT();
  const { sort } = query;
  const is = (descending: boolean): boolean => sort?.column === column.name && sort.descending === descending;
  const item = (descending: boolean) => (
    <Menu.Item
      leftSection={<Icon name={descending ? 'down' : 'up'} size={14} />}
      rightSection={is(descending) ? <Icon name="check" size={14} /> : null}
      onClick={() => onQuery({ ...query, sort: is(descending) ? null : { column: column.name, descending } })}
    >
      {t(descending ? 'sortDescending' : 'sortAscending')}
    </Menu.Item>
  );
  return (
    <>
      {item(false)}
      {item(true)}
      <Menu.Divider />
    </>
  );
}

function LayoutItems({ column: { name }, columns, loaded }: ColumnMenuProps) {
  const t = useT();
  const width = columns.shown.find(({ column }) => column.name === name)?.width ?? 0;
  const resize = (by: number): void => columns.change({ type: 'width', name, width: width + by });
  const isPinned = columns.layout.pinned.includes(name);
  return (
    <>
      <Menu.Item
        leftSection={<Icon name="lock" size={14} />}
        onClick={() => columns.change({ type: 'pin', name })}
      >
        {t(isPinned ? 'unpin' : 'pin')}
      </Menu.Item>
      <Menu.Item
        leftSection={<Icon name="eyeOff" size={14} />}
        disabled={columns.shown.length === 1}
        onClick={() => columns.change({ type: 'hide', name })}
      >
        {t('hideColumn')}
      </Menu.Item>
      <Menu.Divider />
      <Menu.Item onClick={() => columns.fit(name, loaded)}>{t('fitWidth')}</Menu.Item>
      <Menu.Item closeMenuOnClick={false} onClick={() => resize(STEP_PX)}>
        {t('wider')}
      </Menu.Item>
      <Menu.Item closeMenuOnClick={false} onClick={() => resize(-STEP_PX)}>
        {t('narrower')}
      </Menu.Item>
    </>
  );
}

interface ChangeItemsProps {
  readonly column: Column;
  readonly onChange: (change: Change) => void;
}

function ChangeItems({ column, onChange }: ChangeItemsProps) {
  const t = useT();
  return (
    <>
      <Menu.Divider />
      <Menu.Item
        leftSection={<Icon name="edit" size={14} />}
        onClick={() => onChange({ kind: 'alter', column })}
      >
        {t('editColumn')}
      </Menu.Item>
      <Menu.Item onClick={() => onChange({ kind: 'rename', column: column.name })}>
        {t('renameColumn')}
      </Menu.Item>
      <Menu.Item
        c="var(--mantine-color-error)"
        leftSection={<Icon name="trash" size={14} />}
        onClick={() => onChange({ kind: 'drop', column: column.name })}
      >
        {t('dropColumn')}
      </Menu.Item>
    </>
  );
}
