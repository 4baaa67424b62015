// Print the definitions that the TypeScript compiler sees, for tools/symbols.py.
//
// Reads paths from standard input, one a line; writes one JSON object a line:
// {"path", "kind", "name", "line"}. The argument is the module to load.
const fs = require("fs");
const ts = require(process.argv[2]);
const S = ts.SyntaxKind;

const KINDS = {
  [S.FunctionDeclaration]: "function",
  [S.FunctionExpression]: "function",
  [S.ClassDeclaration]: "class",
  [S.ClassExpression]: "class",
  [S.MethodDeclaration]: "method",
  [S.MethodSignature]: "method",
  [S.Constructor]: "method",
  [S.GetAccessor]: "method",
  [S.SetAccessor]: "method",
  [S.InterfaceDeclaration]: "interface",
  [S.TypeAliasDeclaration]: "alias",
  [S.EnumDeclaration]: "enum",
  [S.ModuleDeclaration]: "namespace",
};

const isCallable = (node) =>
  node && (node.kind === S.FunctionExpression || node.kind === S.ArrowFunction);

// A definition is a node of a kind above, or a name that is given a function.
function definition(node) {
  if (KINDS[node.kind]) {
    const keyword = (child) => child.kind === S.ConstructorKeyword;
    const token = node.kind === S.Constructor ? node.getChildren().find(keyword) : node.name;
    return token && [KINDS[node.kind], token];
  }
  if (
    (node.kind === S.VariableDeclaration ||
      node.kind === S.PropertyAssignment ||
      node.kind === S.PropertyDeclaration) &&
    isCallable(node.initializer)
  ) return ["function", node.name];
  if (
    node.kind === S.BinaryExpression &&
    node.operatorToken.kind === S.EqualsToken &&
    isCallable(node.right) &&
    (node.left.kind === S.PropertyAccessExpression || node.left.kind === S.Identifier)
  ) return ["function", node.left.name || node.left];
  return undefined;
}

for (const path of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const text = fs.readFileSync(path, "utf8");
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const visit = (node) => {
    const found = definition(node);
    if (found && /^#?[\p{L}_$][\p{L}\p{N}_$.]*$/u.test(found[1].getText(source))) {
      const [kind, token] = found;
      const start = token.getStart(source);
      const line = text.slice(0, start).split("\n").length;
      const name = token.getText(source).replace("#", "");
      console.log(JSON.stringify({ path, kind, name, line }));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}
