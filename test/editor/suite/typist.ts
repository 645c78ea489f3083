import * as vscode from 'vscode';

/** Stands in for the person at input boxes and save dialogs, and remembers what was asked. */
export class Typist {
  readonly asked: vscode.InputBoxOptions[] = [];
  /** What is typed, the first for the first input box, and so on; undefined is Escape, and so is having nothing more to type. */
  inputs: (string | undefined)[] = [];
  /** Where a file is saved. */
  saveAs: string | undefined;
  private readonly real = { showInputBox: vscode.window.showInputBox, showSaveDialog: vscode.window.showSaveDialog };

  constructor() {
    Object.assign(vscode.window, {
      showInputBox: async (options: vscode.InputBoxOptions = {}) => {
        this.asked.push(options);
        const text = this.inputs.shift();
        // What the box would not take, nobody can enter.
        return text === undefined || await options.validateInput?.(text) ? undefined : text;
      },
      showSaveDialog: () => Promise.resolve(this.saveAs === undefined ? undefined : vscode.Uri.file(this.saveAs)),
    });
  }

  leave(): void {
    Object.assign(vscode.window, this.real);
  }
}
