import { canonicalJson, sha256 } from '../disk/hash';
import type { Plan } from './plan';

/**
 * What a person decides on, as one short text (32 hex digits): verb, items with what the planner calls their decision, what is kept, the
 * kinds of errors and warnings. No clocks, counts, plan ids, or fields that daemons rewrite (design §3).
 */
export function digestOf(plan: Pick<Plan, 'verb' | 'items' | 'warnings' | 'keepTrash'>): string {
  return sha256(canonicalJson({
    verb: plan.verb,
    keepTrash: plan.keepTrash,
    items: plan.items.map((item) => ({
      ref: item.ref, found: item.found, live: item.live, decision: item.decision,
      kept: item.kept.map((kept) => kept.what), errors: item.errors.map((error) => error.kind), notices: item.notices.map((notice) => notice.kind),
    })),
    warnings: plan.warnings.map((warning) => warning.kind).sort(),
  })).slice(0, 32);
}
