/** Settings of a project with their labels and descriptions. Names are the names in the API in every language. */
import { settings as germanDescriptions } from '../i18n/de/settings';
import { settingLabels as german } from '../i18n/de/setting-labels';
import { settingLabels as english } from '../i18n/en/setting-labels';
import schema from '../generated/settings.json';
import type { SettingSchema } from './settings-form';
import { unitsOf } from './units';

export interface SettingTexts {
  readonly name: string;
  readonly label: string;
  readonly description: string | undefined;
  readonly schema: SettingSchema;
}

/** A field with a choice of units leaves the unit of the API out. */
const withoutUnit = (name: string, description: string | undefined): string | undefined =>
  unitsOf(name)
    ? description?.replace(/^Seconds /, 'Time ').replace(/ in (bytes|milliseconds)/, '')
    : description;

/** English descriptions come from the OpenAPI document. */
export function settingsIn(language: string): SettingTexts[] {
  const [labels, descriptions] = language === 'de' ? [german, germanDescriptions] : [english, {}];
  return Object.entries(schema as Record<string, SettingSchema>).map(([name, one]) => ({
    name,
    label: labels[name] ?? name,
    description: (descriptions as Record<string, string>)[name] ?? withoutUnit(name, one.description),
    schema: one,
  }));
}

/** True if the name of the API, the label or the description has the text. */
export function isFound({ name, label, description }: SettingTexts, text: string): boolean {
  return [name, label, description ?? ''].some((one) => one.toLowerCase().includes(text.toLowerCase()));
}
