/** The actions of a tab of the SQL editor. */
import { Button, Group, Select, Tooltip } from '@mantine/core';
import type { RefObject } from 'react';
import { useLanguages, useT } from '../../i18n';
import { formatNumber } from '../../lib/format';
import { formatSql } from '../../lib/format-sql';
import { announceFailure } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import splitStyles from '../../ui/split.module.css';
import type { EditorHandle } from './editor';
import type { SqlRun } from './use-sql-run';

const LIMITS = ['100', '1000', '10000', '100000'];

interface ToolsProps {
  readonly run: SqlRun;
  readonly editor: RefObject<EditorHandle | null>;
  readonly onOpenNames: (() => void) | null;
  readonly onOpenQueries: () => void;
}

export function Tools({ run, editor, onOpenNames, onOpenQueries }: ToolsProps) {
  const t = useT();
  return (
    <div className={splitStyles.tools}>
      <RunButtons run={run} />
      <Group gap="xs">
        {onOpenNames ? (
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="table" size={14} />}
            onClick={onOpenNames}
          >
            {t('tables')}
          </Button>
        ) : null}
        <FormatButton editor={editor} />
        <RowLimit value={run.limit} onChange={run.setLimit} />
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="history" size={14} />}
          onClick={onOpenQueries}
        >
          {t('openQueries')}
        </Button>
      </Group>
    </div>
  );
}

function FormatButton({ editor }: Pick<ToolsProps, 'editor'>) {
  const t = useT();
  const format = async (): Promise<void> => {
    try {
      await editor.current?.rewrite(formatSql);
    } catch {
      announceFailure(new Error(t('notFormatted')), t('close'));
    }
  };
  return (
    <Tooltip label={t('formatHint')}>
      <Button size="xs" variant="default" onClick={() => void format()}>
        {t('format')}
      </Button>
    </Tooltip>
  );
}

function RunButtons({ run: { result, mayRun, start, cancel } }: { run: SqlRun }) {
  const t = useT();
  const { isPending } = result;
  const isDisabled = isPending || !mayRun;
  return (
    <Group gap="xs">
      <Button
        size="xs"
        leftSection={<Icon name="play" size={14} />}
        loading={isPending}
        disabled={!mayRun}
        onClick={() => start('run')}
      >
        {t('runSql')}
      </Button>
      {isPending ? (
        <Button size="xs" variant="default" onClick={cancel}>
          {t('cancel')}
        </Button>
      ) : null}
      <Button size="xs" variant="default" disabled={isDisabled} onClick={() => start('explain')}>
        {t('explain')}
      </Button>
      <Tooltip label={t('analyzeHint')}>
        <Button size="xs" variant="default" disabled={isDisabled} onClick={() => start('analyze')}>
          {t('analyze')}
        </Button>
      </Tooltip>
    </Group>
  );
}

function RowLimit({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const { t, language } = useLanguages();
  return (
    <Select
      size="xs"
      w={120}
      aria-label={t('rowLimit')}
      data={LIMITS.map((limit) => ({
        value: limit,
        label: t('limitRows', { count: formatNumber(Number(limit), language) }),
      }))}
      value={value}
      allowDeselect={false}
      onChange={(limit) => onChange(limit ?? '1000')}
    />
  );
}
