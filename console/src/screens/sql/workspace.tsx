/**
 * A tab of the SQL editor: its text, and the result of its last run. It remains in the page while another tab is shown.
 */
import { Alert, List } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type RefObject, useEffect, useRef, useState } from 'react';
import type { Relation } from '../../queries/catalog-types';
import type { Project } from '../../queries/projects';
import { useT } from '../../i18n';
import { type SqlTab, type TabAction, titleOf } from '../../lib/sql-tabs';
import { inOneLine } from '../../lib/visible-text';
import { Empty, Loading } from '../../ui/feedback';
import { Confirm } from '../../ui/parts';
import textStyles from '../../ui/text.module.css';
import { type EditorHandle, SqlEditor } from './editor';
import { ParametersDialog } from './parameters-dialog';
import { Result, SqlFailure } from './result';
import styles from './sql.module.css';
import { StatementsDrawer } from './statements';
import { Tools } from './tools';
import { type SqlRun, useSqlRun } from './use-sql-run';

const LINKED_CHARACTERS = 1500;

interface WorkspaceProps {
  readonly project: Project;
  readonly tab: SqlTab;
  readonly isActive: boolean;
  readonly relations: readonly Relation[];
  /** Receives the editor of the active tab. */
  readonly active: RefObject<EditorHandle | null>;
  readonly onAction: (action: TabAction) => void;
  /** Null if the names are shown next to the editor. */
  readonly onOpenNames: (() => void) | null;
}

export function Workspace(props: WorkspaceProps) {
  const { isActive } = props;
  const [wasActive, setWasActive] = useState(isActive);
  if (isActive && !wasActive) setWasActive(true);
  return wasActive ? <OpenedWorkspace {...props} /> : null;
}

function OpenedWorkspace(props: WorkspaceProps) {
  const { project, tab, isActive, relations, active, onAction, onOpenNames } = props;
  const t = useT();
  const editor = useRef<EditorHandle>(null);
  const write = (text: string, query: { readonly query?: string } = {}): void =>
    onAction({ kind: 'write', id: tab.id, text, ...query });
  const run = useSqlRun(project, editor, (sql) => {
    // The address links to the SQL that was run, unless it is too long for the URLs of servers and browsers.
    if (sql.length <= LINKED_CHARACTERS) write(editor.current?.text() ?? '', { query: sql });
  });
  const [isDrawerOpen, drawer] = useDisclosure();
  useEffect(() => {
    if (isActive) active.current = editor.current;
  }, [isActive, active]);
  return (
    <div
      hidden={!isActive}
      className={styles.work}
      role="tabpanel"
      aria-label={titleOf(tab) ?? t('newQuery')}
    >
      <div className={styles.top}>
        <SqlEditor
          initial={tab.text}
          label={t('sqlEditor')}
          hint={t('sqlHint')}
          keys={t('sqlKeys')}
          relations={relations}
          handle={editor}
          onRun={() => run.start('run')}
          onChange={(text) => write(text)}
        />
      </div>
      <Tools run={run} editor={editor} onOpenNames={onOpenNames} onOpenQueries={drawer.open} />
      <div className={styles.result}>
        <Outcome run={run} project={project} />
      </div>
      <Questions run={run} />
      <StatementsDrawer
        project={project}
        isOpen={isDrawerOpen}
        current={tab.text}
        onChoose={(text, name) => {
          onAction({ kind: 'open', text, ...(name === undefined ? {} : { name }) });
          drawer.close();
        }}
        onClose={drawer.close}
      />
    </div>
  );
}

/** Asks before SQL that deletes data is run, and asks for the values of parameters. */
function Questions({ run }: { run: SqlRun }) {
  const t = useT();
  const { asked, asksValues } = run;
  return (
    <>
      {asked ? (
        <Confirm
          title={t('dangerTitle')}
          text={t('dangerText')}
          action={t('runSql')}
          onClose={run.closeQuestion}
          run={async () => run.confirm(asked)}
        >
          <List size="sm">
            {asked.dangers.map(({ kind, subject }, index) => (
              <List.Item key={index} className={textStyles.wrap}>
                {t(`danger_${kind}`, { subject: inOneLine(subject) })}
              </List.Item>
            ))}
          </List>
        </Confirm>
      ) : null}
      {asksValues ? (
        <ParametersDialog
          names={asksValues.parameters.names}
          values={run.values}
          action={t(asksValues.action === 'run' ? 'runSql' : asksValues.action)}
          onRun={run.sendWith}
          onClose={run.closeValues}
        />
      ) : null}
    </>
  );
}

function Outcome({ run, project }: { run: SqlRun; project: Project }) {
  const t = useT();
  const { data, error, isPending, isIdle } = run.result;
  return (
    <>
      {isPending ? <Loading /> : null}
      {error && !isPending ? <SqlFailure error={error} /> : null}
      {data && !isPending ? <Result {...data} project={project} /> : null}
      {run.asksForOne ? <Alert m="md">{t('explainOne')}</Alert> : null}
      {run.mayRun ? null : <Alert m="md">{t('sqlForbidden')}</Alert>}
      {run.mayRun && isIdle ? <Empty icon="sql" title={t('sqlEmpty')} text={t('sqlEmptyText')} /> : null}
    </>
  );
}
