/** A plan as a tree; the bar is the share of the node in the whole. */
import { Text } from '@mantine/core';
import { useLanguages } from '../../i18n';
import type { PlanNode } from '../../lib/explain';
import { formatNumber } from '../../lib/format';

export function Plan({ node }: { node: PlanNode }) {
  const { t } = useLanguages();
  return (
    <ul className="plan" aria-label={t('plan')}>
      <Node node={node} />
    </ul>
  );
}

function Node({ node }: { node: PlanNode }) {
  const { t, language } = useLanguages();
  const rows = node.actualRows ?? node.rows;
  return (
    <li>
      <div className="plan-node">
        <div className="plan-bar" style={{ width: `${Math.max(1, node.share * 100)}%` }} />
        <Text size="sm" fw={550} className="wrap">
          {node.title}
        </Text>
        <Text size="xs" c="dimmed">
          {t('planRows', { rows: formatNumber(rows, language) })}
          {node.ms === null ? '' : ` · ${node.ms.toFixed(2)} ms`}
          {` · ${Math.round(node.share * 100)} %`}
        </Text>
        {node.detail === '' ? null : (
          <Text size="xs" ff="monospace" className="wrap">
            {node.detail}
          </Text>
        )}
      </div>
      {node.children.length > 0 ? (
        <ul>
          {node.children.map((child, index) => (
            <Node key={index} node={child} />
          ))}
        </ul>
      ) : null}
    </li>
  );
}
