/** Colour scheme and language. */
import {
  ActionIcon,
  Group,
  Menu,
  Tooltip,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { type Language, LANGUAGES, useLanguages } from '../i18n';
import { Icon } from './icon';

export function AppearanceMenu() {
  const { t, language, setLanguage } = useLanguages();
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme('light');
  const next = scheme === 'dark' ? 'light' : 'dark';
  return (
    <Group gap={4} wrap="nowrap">
      <Tooltip label={t(next === 'dark' ? 'darkScheme' : 'lightScheme')}>
        <ActionIcon
          size="lg"
          aria-label={t(next === 'dark' ? 'darkScheme' : 'lightScheme')}
          onClick={() => setColorScheme(next)}
        >
          <Icon name={next === 'dark' ? 'moon' : 'sun'} />
        </ActionIcon>
      </Tooltip>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon size="lg" aria-label={t('language')}>
            <Icon name="globe" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {Object.entries(LANGUAGES).map(([code, name]) => (
            <Menu.Item
              key={code}
              lang={code}
              onClick={() => setLanguage(code as Language)}
              rightSection={code === language ? <Icon name="check" size={14} /> : null}
            >
              {name}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}
