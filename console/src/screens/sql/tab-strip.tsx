/** The tabs of the SQL editor. Delete closes the tab that has the focus. */
import { Tabs } from '@mantine/core';
import { useT } from '../../i18n';
import { type SqlTabs, type TabAction, titleOf } from '../../lib/sql-tabs';
import { IconButton } from '../../ui/parts';
import styles from './tab-strip.module.css';

interface TabStripProps {
  readonly state: SqlTabs;
  readonly onAction: (action: TabAction) => void;
}

export function TabStrip({ state: { tabs, active }, onAction }: TabStripProps) {
  const t = useT();
  return (
    <div className={styles.strip}>
      <Tabs
        value={active}
        onChange={(id) => onAction({ kind: 'choose', id: id ?? active })}
        className={styles.tabs}
      >
        <Tabs.List aria-label={t('queryTabs')} className={styles.list}>
          {tabs.map((tab) => (
            <Tabs.Tab
              key={tab.id}
              value={tab.id}
              className={styles.tab}
              onKeyDown={({ key }) => {
                if (key === 'Delete') onAction({ kind: 'close', id: tab.id });
              }}
              onAuxClick={() => onAction({ kind: 'close', id: tab.id })}
            >
              <span dir="auto">{titleOf(tab) ?? t('newQuery')}</span>
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      <IconButton icon="plus" label={t('newTab')} onClick={() => onAction({ kind: 'open', text: '' })} />
      <IconButton
        icon="close"
        label={t('closeTab')}
        disabled={tabs.length === 1 && tabs[0]?.text === ''}
        onClick={() => onAction({ kind: 'close', id: active })}
      />
    </div>
  );
}
