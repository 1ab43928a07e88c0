package controllers

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"testing"
)

// maxFields is how many fields a reconciler may have. What belongs together is one type.
const maxFields = 12

// shape is how much there is of a reconciler.
type shape struct{ fields, methods int }

// TestReconcilers: a reconciler that holds more than this has become several.
func TestReconcilers(t *testing.T) {
	found := map[string]shape{}
	all := sources(t, "internal/controller", "deployer")
	for _, s := range all {
		ast.Inspect(s.file, func(node ast.Node) bool {
			declared, is := node.(*ast.TypeSpec)
			if !is || !isReconciler(declared.Name.Name) {
				return true
			}
			if holds, is := declared.Type.(*ast.StructType); is {
				found[s.dir+"."+declared.Name.Name] = shape{fields: holds.Fields.NumFields()}
			}
			return true
		})
	}
	for _, s := range all {
		s.functions(func(function *ast.FuncDecl) {
			if one, is := found[s.dir+"."+receiver(function)]; is {
				one.methods++
				found[s.dir+"."+receiver(function)] = one
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		t.Logf("%s: %d fields, %d methods", name, found[name].fields, found[name].methods)
		if found[name].fields > maxFields {
			t.Errorf("%s has %d fields, and may have %d: make one type of what belongs together", name, found[name].fields, maxFields)
		}
	}
	if len(found) < 5 {
		t.Errorf("found are %v", found)
	}
}

func isReconciler(name string) bool { return strings.EqualFold(name, "reconciler") }

// withoutSteps are reconcilers that write one thing from what caches show: there is nothing to decide
// step by step.
var withoutSteps = map[string]string{
	"internal/controller/channel/follow.Reconciler":  "writes one version with the request for its job",
	"internal/controller/defaultcontext.Reconciler":  "creates one Context",
	"internal/controller/deliverypolicy.Reconciler":  "writes one status",
	"internal/controller/shootflux/lifecycle.Health": "writes one condition",
}

// TestOneLoop: each controller with steps is driven by the engine, and nothing else loops over steps.
func TestOneLoop(t *testing.T) {
	drives, reconciles := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t, "internal/controller", "deployer") {
		s.functions(func(function *ast.FuncDecl) {
			if function.Name.Name == "Reconcile" && strings.Contains(types.ExprString(function.Type), "Request)") {
				reconciles[s.dir+"."+receiver(function)] = true
			}
			ast.Inspect(function, func(node ast.Node) bool {
				if call, is := node.(*ast.CallExpr); is && types.ExprString(call.Fun) == "engine.Drive" {
					drives[s.dir] = true
				}
				return true
			})
		})
	}
	for _, name := range slices.Sorted(maps.Keys(reconciles)) {
		if dir := name[:strings.LastIndex(name, ".")]; withoutSteps[name] == "" && !drives[dir] {
			t.Errorf("%s: let runtime/engine drive it", name)
		}
	}
	t.Logf("the engine drives %v", slices.Sorted(maps.Keys(drives)))
}

// TestOneComparator: which of two resource versions is older is known in one package. Elsewhere, they are
// the same or not.
func TestOneComparator(t *testing.T) {
	equal, asking := 0, map[string]bool{}
	for _, s := range sources(t, append([]string{"internal/landscape", "internal/deploy", "internal/cluster"}, heart...)...) {
		s.functions(func(function *ast.FuncDecl) {
			ast.Inspect(function, func(node ast.Node) bool {
				switch node := node.(type) {
				case *ast.BinaryExpr:
					if !isVersion(node.X) && !isVersion(node.Y) {
						return true
					}
					switch node.Op {
					case token.LSS, token.GTR, token.LEQ, token.GEQ:
						t.Errorf("%s: %s compares resource versions: ask base/resourceversion", s.dir, function.Name.Name)
					case token.EQL, token.NEQ:
						equal++
					}
				case *ast.CallExpr:
					name := types.ExprString(node.Fun)
					if strings.HasPrefix(name, "resourceversion.") {
						asking[s.dir] = true
					}
					if strings.HasPrefix(name, "strconv.") && slices.ContainsFunc(node.Args, isVersion) {
						t.Errorf("%s: %s reads a resource version as a number: ask base/resourceversion", s.dir, function.Name.Name)
					}
				}
				return true
			})
		})
	}
	t.Logf("1 package knows which version is older, and %v ask it; %d places look whether two are the same", slices.Sorted(maps.Keys(asking)), equal)
}

func isVersion(e ast.Expr) bool {
	text := types.ExprString(e)
	return strings.HasSuffix(text, "ResourceVersion") || strings.HasSuffix(text, "ResourceVersion()")
}
