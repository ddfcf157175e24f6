/** Shows hidden columns again. */
import { Button, Menu } from '@mantine/core';
import { useT } from '../../i18n';
import { Icon } from '../../ui/icon';
import type { GridColumns } from './use-columns';

export function HiddenColumns({ columns, all }: { columns: GridColumns; all: readonly string[] }) {
  const t = useT();
  const hidden = columns.layout.hidden.filter((name) => all.includes(name));
  if (hidden.length === 0) return null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<Icon name="eyeOff" size={14} />}>
          {t('hiddenColumns', { count: hidden.length })}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={320} style={{ overflow: 'auto' }}>
        {hidden.map((name) => (
          <Menu.Item
            key={name}
            leftSection={<Icon name="eye" size={14} />}
            onClick={() => columns.change({ type: 'hide', name })}
          >
            {name}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => columns.change({ type: 'showAll' })}>{t('showAllColumns')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
