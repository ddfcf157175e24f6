/** SQL as the owner of the project's database: tabs, and the names of tables and columns next to them. */
import { VisuallyHidden } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { useRef } from 'react';
import { isExposed, type Project, useCatalog, useProject } from '../../queries/projects';
import { useT } from '../../i18n';
import { SideDrawer } from '../../ui/dialog';
import splitStyles from '../../ui/split.module.css';
import type { EditorHandle } from './editor';
import { Names } from './names';
import { TabStrip } from './tab-strip';
import { useSqlTabs } from './use-sql-tabs';
import { Workspace } from './workspace';

/** Each project has its own tabs. */
export function SqlScreen() {
  const project = useProject();
  return <Editor key={project.id} project={project} />;
}

function Editor({ project }: { project: Project }) {
  const t = useT();
  const relations = useCatalog(project).data ?? NONE;
  // Exposed tables come before tables of Plinth.
  const own = relations.filter((one) => isExposed(project, one));
  const { state, act } = useSqlTabs(project);
  /** The editor of the active tab. */
  const editor = useRef<EditorHandle>(null);
  const isNarrow = useMediaQuery('(max-width: 62em)') ?? false;
  const [isListOpen, list] = useDisclosure();
  const names = (
    <Names
      relations={[...own, ...relations.filter((one) => !own.includes(one))]}
      onChoose={(name) => {
        list.close();
        editor.current?.insert(name);
      }}
    />
  );
  return (
    <div className={splitStyles.split}>
      {isNarrow ? (
        <SideDrawer opened={isListOpen} onClose={list.close} title={t('tables')} size="xs" padding="xs">
          {names}
        </SideDrawer>
      ) : (
        <aside className={splitStyles.side} aria-label={t('tables')}>
          {names}
        </aside>
      )}
      <section className={splitStyles.main}>
        <VisuallyHidden renderRoot={(props) => <h1 {...props} />}>{t('sqlEditor')}</VisuallyHidden>
        <TabStrip state={state} onAction={act} />
        {state.tabs.map((tab) => (
          <Workspace
            key={tab.id}
            project={project}
            tab={tab}
            isActive={tab.id === state.active}
            relations={relations}
            active={editor}
            onAction={act}
            onOpenNames={isNarrow ? list.open : null}
          />
        ))}
      </section>
    </div>
  );
}

const NONE: readonly never[] = [];
