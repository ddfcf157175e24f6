/** The forms that create types, functions, triggers and views. Each shows its SQL. */
import { Checkbox, Group, Select, MultiSelect, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useSetState } from '@mantine/hooks';
import type { Schema } from '../../api/client';
import type { Relation } from '../../queries/catalog-types';
import type { Project } from '../../queries/projects';
import { useT } from '../../i18n';
import {
  alterEnumSql,
  createEnumSql,
  createFunctionSql,
  createTriggerSql,
  createViewSql,
  type FunctionDraft,
  type SchemaObject,
  TRIGGER_EVENTS,
  type TriggerDraft,
  type ViewDraft,
} from '../../lib/ddl-objects';
import { SqlDialog } from '../../ui/sql-dialog';
import textStyles from '../../ui/text.module.css';

interface FormProps {
  readonly project: Project;
  readonly schema: string;
  readonly onClose: () => void;
}

/** @param changed null for a new enum */
export function EnumForm({
  project,
  schema,
  changed,
  onClose,
}: FormProps & { changed: SchemaObject | null }) {
  const t = useT();
  const [draft, setDraft] = useSetState({
    name: changed?.name ?? '',
    labels: [...(changed?.labels ?? [])],
    renamed: { from: null as string | null, to: '' },
  });
  const { name, labels } = draft;
  return (
    <SqlDialog
      project={project}
      onClose={onClose}
      title={changed ? t('changeObject', { name: changed.name }) : t('new_types')}
      action={changed ? t('saveObject', { name: changed.name }) : t('create_types')}
      done={t(changed ? 'objectChanged' : 'objectCreated', { kind: t('kind_types'), name })}
      sql={changed ? alterEnumSql(changed, draft) : createEnumSql(schema, name, labels)}
    >
      <NameInput value={name} onChange={(next) => setDraft({ name: next })} />
      <TagsInput
        label={t('enumLabels')}
        description={changed ? t('enumLabelsKept') : t('enumLabelsHint')}
        value={labels}
        onChange={(next) =>
          setDraft({ labels: [...(changed?.labels ?? []).filter((one) => !next.includes(one)), ...next] })
        }
      />
      {changed?.labels ? (
        <Group grow align="start">
          <Select
            label={t('renameLabel')}
            data={[...changed.labels]}
            clearable
            value={draft.renamed.from}
            onChange={(from) => setDraft({ renamed: { ...draft.renamed, from } })}
          />
          <TextInput
            label={t('newLabel')}
            disabled={draft.renamed.from === null}
            value={draft.renamed.to}
            onChange={(event) => setDraft({ renamed: { ...draft.renamed, to: event.currentTarget.value } })}
          />
        </Group>
      ) : null}
    </SqlDialog>
  );
}

export function CreateFunction({ project, schema, onClose }: FormProps) {
  const t = useT();
  const [draft, setDraft] = useSetState<FunctionDraft>({
    name: '',
    arguments: '',
    returns: 'trigger',
    language: 'plpgsql',
    volatility: 'volatile',
    definer: false,
    body: 'begin\n  return new;\nend',
  });
  return (
    <SqlDialog
      project={project}
      onClose={onClose}
      size="xl"
      title={t('new_functions')}
      action={t('create_functions')}
      done={t('objectCreated', { kind: t('kind_functions'), name: draft.name })}
      sql={createFunctionSql(schema, draft)}
    >
      <Group grow align="start">
        <NameInput value={draft.name} onChange={(name) => setDraft({ name })} />
        <TextInput
          label={t('functionArguments')}
          placeholder="a integer, b text"
          classNames={{ input: textStyles.mono }}
          value={draft.arguments}
          onChange={(event) => setDraft({ arguments: event.currentTarget.value })}
        />
        <TextInput
          label={t('functionReturns')}
          classNames={{ input: textStyles.mono }}
          value={draft.returns}
          onChange={(event) => setDraft({ returns: event.currentTarget.value })}
        />
      </Group>
      <Group gap="md">
        <Choice
          label={t('functionLanguage')}
          values={['plpgsql', 'sql']}
          value={draft.language}
          onChange={(language) => setDraft({ language })}
        />
        <Choice
          label={t('functionVolatility')}
          values={['volatile', 'stable', 'immutable']}
          value={draft.volatility}
          onChange={(volatility) => setDraft({ volatility })}
        />
        <Checkbox
          label={t('functionDefiner')}
          checked={draft.definer}
          onChange={(event) => setDraft({ definer: event.currentTarget.checked })}
        />
      </Group>
      <Code label={t('functionBody')} value={draft.body} onChange={(body) => setDraft({ body })} />
    </SqlDialog>
  );
}

interface CreateTriggerProps extends FormProps {
  readonly relations: readonly Relation[];
  readonly functions: Schema<'CatalogObjects'>['functions'];
}

export function CreateTrigger({ project, schema, relations, functions, onClose }: CreateTriggerProps) {
  const t = useT();
  const [draft, setDraft] = useSetState<TriggerDraft>({
    name: '',
    table: null,
    timing: 'before',
    events: ['update'],
    perRow: true,
    when: '',
    call: null,
  });
  const calls = functions.filter(({ returns }) => returns === 'trigger');
  const labelOf = (one: { schema: string; name: string }): string => `${one.schema}.${one.name}`;
  return (
    <SqlDialog
      project={project}
      onClose={onClose}
      title={t('new_triggers')}
      action={t('create_triggers')}
      done={t('objectCreated', { kind: t('kind_triggers'), name: draft.name })}
      sql={createTriggerSql(schema, draft)}
    >
      <NameInput value={draft.name} onChange={(name) => setDraft({ name })} />
      <Select
        label={t('table')}
        data={relations
          .filter((one) => one.schema === schema && one.kind === 'table')
          .map(({ name }) => name)}
        value={draft.table}
        searchable
        onChange={(table) => setDraft({ table })}
      />
      <Group gap="md" align="end">
        <Choice
          label={t('triggerTiming')}
          values={['before', 'after']}
          value={draft.timing}
          onChange={(timing) => setDraft({ timing })}
        />
        <MultiSelect
          flex={1}
          label={t('triggerEvents')}
          data={[...TRIGGER_EVENTS]}
          value={[...draft.events]}
          onChange={(next) => setDraft({ events: TRIGGER_EVENTS.filter((one) => next.includes(one)) })}
        />
      </Group>
      <Select
        label={t('triggerFunction')}
        description={t('triggerFunctionHint')}
        data={calls.map(labelOf)}
        value={draft.call && labelOf(draft.call)}
        searchable
        onChange={(label) => setDraft({ call: calls.find((one) => labelOf(one) === label) ?? null })}
      />
      <TextInput
        label={t('where')}
        placeholder="old.title is distinct from new.title"
        classNames={{ input: textStyles.mono }}
        value={draft.when}
        onChange={(event) => setDraft({ when: event.currentTarget.value })}
      />
      <Checkbox
        label={t('triggerPerRow')}
        checked={draft.perRow}
        onChange={(event) => setDraft({ perRow: event.currentTarget.checked })}
      />
    </SqlDialog>
  );
}

export function CreateView({ project, schema, onClose }: FormProps) {
  const t = useT();
  const [draft, setDraft] = useSetState<ViewDraft>({
    name: '',
    query: '',
    materialized: false,
    invoker: true,
  });
  return (
    <SqlDialog
      project={project}
      onClose={onClose}
      size="xl"
      title={t('new_views')}
      action={t('create_views')}
      done={t('objectCreated', { kind: t('kind_views'), name: draft.name })}
      sql={createViewSql(schema, draft)}
    >
      <NameInput value={draft.name} onChange={(name) => setDraft({ name })} />
      <Code label={t('viewQuery')} value={draft.query} onChange={(query) => setDraft({ query })} />
      <Checkbox
        label={t('viewInvoker')}
        description={t('viewInvokerHint')}
        checked={draft.invoker && !draft.materialized}
        disabled={draft.materialized}
        onChange={(event) => setDraft({ invoker: event.currentTarget.checked })}
      />
      <Checkbox
        label={t('viewMaterialized')}
        checked={draft.materialized}
        onChange={(event) => setDraft({ materialized: event.currentTarget.checked })}
      />
    </SqlDialog>
  );
}

function NameInput({ value, onChange }: { value: string; onChange: (name: string) => void }) {
  const t = useT();
  return (
    <TextInput
      label={t('name')}
      maxLength={63}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data-autofocus
    />
  );
}

function Code({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (text: string) => void;
}) {
  return (
    <Textarea
      label={label}
      autosize
      minRows={5}
      maxRows={20}
      spellCheck={false}
      classNames={{ input: textStyles.mono }}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly values: readonly Value[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

function Choice<Value extends string>({ label, values, value, onChange }: ChoiceProps<Value>) {
  return (
    <Select
      label={label}
      data={[...values]}
      value={value}
      allowDeselect={false}
      onChange={(next) => onChange(next ?? value)}
    />
  );
}
