/** SQL as the owner of the project's database. */
import { Alert, Button, Group, List, Select, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { getRouteApi } from '@tanstack/react-router';
import { useRef } from 'react';
import { type Project, useCatalog, useProject } from '../../queries/projects';
import { useT } from '../../i18n';
import { draftOf, keepDraft } from '../../lib/sql-drafts';
import { inOneLine } from '../../lib/visible-text';
import { SideDrawer } from '../../ui/dialog';
import { Empty, Loading } from '../../ui/feedback';
import { Icon } from '../../ui/icon';
import { Confirm } from '../../ui/parts';
import splitStyles from '../../ui/split.module.css';
import textStyles from '../../ui/text.module.css';
import { type EditorHandle, SqlEditor } from './editor';
import { Result, SqlFailure } from './result';
import styles from './sql.module.css';
import { Statements } from './statements';
import { type SqlRun, useSqlRun } from './use-sql-run';

const route = getRouteApi('/signed-in/projects/$slug/sql');
const LIMITS = ['100', '1000', '10000', '100000'];

export function SqlScreen() {
  const t = useT();
  const project = useProject();
  const { query } = route.useSearch();
  const relations = useCatalog(project).data ?? [];
  const editor = useRef<EditorHandle>(null);
  const run = useSqlRun(project, editor);
  const [isDrawerOpen, drawer] = useDisclosure();
  return (
    <div className={styles.screen}>
      <div className={styles.top}>
        <SqlEditor
          initial={draftOf(project.id, query) ?? query ?? run.entries[0]?.sql ?? ''}
          label={t('sqlEditor')}
          hint={t('sqlHint')}
          relations={relations}
          handle={editor}
          onRun={() => run.start('run')}
          onChange={(text) => keepDraft(project.id, { text, query })}
        />
      </div>
      <div className={splitStyles.tools}>
        <RunButtons run={run} />
        <Group gap="xs">
          <RowLimit value={run.limit} onChange={run.setLimit} />
          <Button
            size="xs"
            variant="default"
            leftSection={<Icon name="history" size={14} />}
            onClick={drawer.open}
          >
            {t('openQueries')}
          </Button>
        </Group>
      </div>
      <div className={styles.result}>
        <Outcome run={run} project={project} />
      </div>
      <Question run={run} />
      <SideDrawer opened={isDrawerOpen} onClose={drawer.close} title={t('openQueries')}>
        <Statements
          project={project}
          current={editor.current?.text() ?? ''}
          entries={run.entries}
          onChoose={(text) => {
            editor.current?.replace(text);
            drawer.close();
          }}
          onClear={run.clearHistory}
        />
      </SideDrawer>
    </div>
  );
}

/** Asks before SQL that loses data. */
function Question({ run: { asked, confirm, closeQuestion } }: { run: SqlRun }) {
  const t = useT();
  if (!asked) return null;
  return (
    <Confirm
      title={t('dangerTitle')}
      text={t('dangerText')}
      action={t('run')}
      onClose={closeQuestion}
      run={async () => confirm(asked)}
    >
      <List size="sm">
        {asked.dangers.map(({ kind, subject }, index) => (
          <List.Item key={index} className={textStyles.wrap}>
            {t(`danger_${kind}`, { subject: inOneLine(subject) })}
          </List.Item>
        ))}
      </List>
    </Confirm>
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
        {t('run')}
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
  const t = useT();
  return (
    <Select
      size="xs"
      w={120}
      aria-label={t('rowLimit')}
      data={LIMITS.map((limit) => ({ value: limit, label: t('limitRows', { count: limit }) }))}
      value={value}
      allowDeselect={false}
      onChange={(limit) => onChange(limit ?? '1000')}
    />
  );
}

function Outcome({ run, project }: { run: SqlRun; project: Project }) {
  const t = useT();
  const { data, error, isPending, isIdle, variables } = run.result;
  return (
    <>
      {isPending ? <Loading /> : null}
      {error && !isPending ? <SqlFailure error={error} /> : null}
      {data && !isPending ? (
        <Result {...data} isPlan={variables?.action !== 'run'} project={project} />
      ) : null}
      {run.asksForOne ? <Alert m="md">{t('explainOne')}</Alert> : null}
      {run.mayRun ? null : <Alert m="md">{t('sqlForbidden')}</Alert>}
      {run.mayRun && isIdle ? <Empty icon="sql" title={t('sqlEmpty')} text={t('sqlEmptyText')} /> : null}
    </>
  );
}
