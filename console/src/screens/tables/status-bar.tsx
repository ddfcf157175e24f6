/** The bar below the grid: the number of rows, the input to go to a row, and the unsaved changes. */
import { Alert, Button, Group, NumberInput, Text } from '@mantine/core';
import { useLanguages } from '../../i18n';
import { formatNumber } from '../../lib/format';
import { countOf, NO_CHANGES, undo } from '../../lib/pending-changes';
import { RowConflict } from '../../queries/save-changes';
import { Failure } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import type { GridState } from './use-grid';
import type { Scroller } from './use-scroll';
import textStyles from '../../ui/text.module.css';
import styles from './status-bar.module.css';

/** Number of rows above which a row can be opened by its number; below it, the scroll bar is as quick. */
const JUMP_ROWS = 200;

export function StatusBar({ grid, scroll }: { grid: GridState; scroll: Scroller }) {
  const count = countOf(grid.pending);
  return (
    <footer className={count > 0 ? `${styles.status} ${styles.changed}` : styles.status}>
      {grid.save.error && count > 0 ? <SaveFailure save={grid.save} error={grid.save.error} /> : null}
      <Group justify="space-between" w="100%" gap="xs">
        <RowCount grid={grid} />
        <Group gap="xs">
          {count > 0 ? <PendingBar grid={grid} /> : null}
          {count === 0 && grid.pages.total > JUMP_ROWS ? <RowJump grid={grid} scroll={scroll} /> : null}
        </Group>
      </Group>
    </footer>
  );
}

function SaveFailure({ save, error }: { save: GridState['save']; error: Error }) {
  const { t } = useLanguages();
  if (!(error instanceof RowConflict)) return <Failure error={error} />;
  return (
    <Alert color="orange" variant="light" role="alert" icon={<Icon name="warning" />}>
      <Text size="sm" className={textStyles.wrap} dir="auto">
        {t('rowConflict', { row: error.key })}
      </Text>
      <Button
        mt="xs"
        size="xs"
        variant="default"
        loading={save.isPending}
        onClick={() => save.mutate({ overwrites: true })}
      >
        {t('overwrite')}
      </Button>
    </Alert>
  );
}

function RowCount({ grid }: { grid: GridState }) {
  const { t, language } = useLanguages();
  const { total, isExact, isKeyed } = grid.pages;
  const changes = countOf(grid.pending);
  if (changes > 0)
    return (
      <Text size="sm" fw={550}>
        {t('unsaved', { count: changes })}
      </Text>
    );
  return (
    <Text size="xs" c="dimmed" aria-live="polite">
      {t(isExact ? 'rowCount' : 'rowEstimate', { count: formatNumber(total, language) })}
      {isKeyed ? '' : ` · ${t('pagedByOffset')}`}
    </Text>
  );
}

function RowJump({ grid, scroll }: { grid: GridState; scroll: Scroller }) {
  const { t } = useLanguages();
  const { total } = grid.pages;
  return (
    <>
      <Button size="compact-xs" variant="default" onClick={() => scroll.toRow(0)}>
        {t('firstRow')}
      </Button>
      <NumberInput
        size="xs"
        w={150}
        placeholder={t('goToRow')}
        aria-label={t('goToRow')}
        min={1}
        max={total}
        allowDecimal={false}
        hideControls
        onKeyDown={(event) => {
          const row = Number(event.currentTarget.value);
          if (event.key === 'Enter' && row >= 1) scroll.toRow(Math.min(row, total) - 1);
        }}
      />
      <Button size="compact-xs" variant="default" onClick={() => scroll.toRow(total - 1)}>
        {t('lastRow')}
      </Button>
    </>
  );
}

function PendingBar({ grid }: { grid: GridState }) {
  const { t } = useLanguages();
  const { pending, setPending, save } = grid;
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<Icon name="undo" size={14} />}
        onClick={() => setPending(undo(pending))}
        disabled={pending.past.length === 0}
      >
        {t('undo')}
      </Button>
      <Button size="xs" variant="default" onClick={() => setPending(NO_CHANGES)}>
        {t('discard')}
      </Button>
      <Button size="xs" loading={save.isPending} onClick={() => save.mutate({ overwrites: false })}>
        {t('saveChanges')}
      </Button>
    </>
  );
}
