import { applyPlan } from './applyPlan';
import { attach } from './attach';
import { checkpoint } from './checkpoint';
import { chooseLoopFolder } from './chooseLoopFolder';
import type { Command } from './command';
import { changeContextPolicy, changePolicyValue, toggleContextPolicy } from './contextPolicy';
import { copyCommandLine, copyReference } from './copy';
import { pruneLoopState, unblock } from './loopState';
import { openCheckout, openRecord, openTicket } from './open';
import { openEventLog } from './openEventLog';
import { openTranscript } from './openTranscript';
import { openWalkthrough } from './openWalkthrough';
import { refresh } from './refresh';
import { resetAll, resetItems, showResetDryRun } from './reset';
import { adjudicateRetest, auditRetests, concludeRetest, endRetest, exportRetest, messageRetest, reopenRetest, startRetest } from './retest';
import { runDoctor } from './runDoctor';
import { showOutput } from './showOutput';
import { undo } from './undo';
import { lintWorkflow, openWorkflow, resetAgent, showDiagram } from './workflow';

/** Every command, by its id in package.json (a unit test compares the two). */
export const commands: Readonly<Record<string, Command>> = {
  'loopkeeper.resetItems': resetItems,
  'loopkeeper.resetAll': resetAll,
  'loopkeeper.resetDryRun': showResetDryRun,
  'loopkeeper.undo': undo,
  'loopkeeper.attach': attach,
  'loopkeeper.checkpoint': checkpoint,
  'loopkeeper.toggleContextPolicy': toggleContextPolicy,
  'loopkeeper.changeContextPolicy': changeContextPolicy,
  'loopkeeper.pruneLoopState': pruneLoopState,
  'loopkeeper.chooseLoopFolder': chooseLoopFolder,
  'loopkeeper.runDoctor': runDoctor,
  'loopkeeper.openEventLog': openEventLog,
  'loopkeeper.refresh': refresh,
  'loopkeeper.showOutput': showOutput,
  'loopkeeper.openWalkthrough': openWalkthrough,
  'loopkeeper.startRetest': startRetest,
  'loopkeeper.reopenRetest': reopenRetest,
  'loopkeeper.auditRetests': auditRetests,
  // On rows and documents only.
  'loopkeeper.reset': resetItems,
  'loopkeeper.showDryRun': showResetDryRun,
  'loopkeeper.applyPlan': applyPlan,
  'loopkeeper.attachHere': attach,
  'loopkeeper.open': openRecord,
  'loopkeeper.openRecord': openRecord,
  'loopkeeper.changePolicyValue': changePolicyValue,
  'loopkeeper.unblock': unblock,
  'loopkeeper.openFile': openRecord,
  'loopkeeper.showOnForge': openTicket,
  'loopkeeper.openTicket': openTicket,
  'loopkeeper.openCheckout': openCheckout,
  'loopkeeper.copyReference': copyReference,
  'loopkeeper.copyCommandLine': copyCommandLine,
  'loopkeeper.openTranscript': openTranscript,
  'loopkeeper.concludeRetest': concludeRetest,
  'loopkeeper.adjudicateRetest': adjudicateRetest,
  'loopkeeper.reopenRetestHere': reopenRetest,
  'loopkeeper.endRetest': endRetest,
  'loopkeeper.messageRetest': messageRetest,
  'loopkeeper.exportRetest': exportRetest,
  'loopkeeper.resetAgent': resetAgent,
  'loopkeeper.openStateFile': openRecord,
  'loopkeeper.openWorkflow': openWorkflow,
  'loopkeeper.showDiagram': showDiagram,
  'loopkeeper.lintWorkflow': lintWorkflow,
};
