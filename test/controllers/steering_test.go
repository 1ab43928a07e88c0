package controllers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Reasons for which code may ask which error it has got.
const (
	border  = "the one error that steers an attempt, at the border where it ends"
	outcome = "what follows from an error for a job: the classes of runtime/job, in one place"
	panicky = "a panic is reported with its place, in the way of this kind"
	answer  = "an answer of another system, or of a call, that is turned into a result here"
	words   = "chooses text, reason or code of what users read, and nothing else"
	parsing = "a parser says where a document is wrong"
	cause   = "why a context has ended is said by its cause"
)

// permitted are the errors that code of the controllers asks for, by package. Whatever else steers a
// step is a result of the step, or of what it calls: it is observed, decided upon, and in a table.
var permitted = map[string]string{
	"internal/runtime/expectations: StaleCacheError":     border,
	"internal/runtime/engine: expectations.IsDeleted":    border,
	"internal/runtime/engine: expectations.RetryAfter":   border,
	"internal/runtime/reporter: expectations.IsDeleted":  "leaves it to the engine",
	"internal/runtime/reporter: expectations.RetryAfter": "leaves it to the engine",
	"internal/runtime/job: expectations.RetryAfter":      outcome,

	"internal/controller/targetsync: expectations.RetryAfter":   "its writes of a status trigger no reconcile, so that the pause is shorter",
	"internal/controller/installation: expectations.RetryAfter": "it is about another Installation, and the attempt goes on",

	"internal/runtime/job: waiting":         outcome,
	"internal/runtime/job: terminal":        outcome,
	"internal/runtime/job: *Error":          outcome,
	"internal/runtime/job: *Panic":          outcome,
	"internal/runtime/job: runtime.Error":   panicky,
	"internal/runtime/reporter: *job.Panic": panicky,
	"internal/runtime/crashnote: *GivenUp":  outcome,
	"internal/runtime/memguard: ErrEnded":   cause,

	"internal/controller/installation: memguard.ErrEnded": cause,
	"internal/controller/targetsync: *job.Panic":          panicky,
	"internal/controller/fleet: *job.Panic":               panicky,
	"internal/controller/shootflux/lifecycle: *job.Panic": panicky,
	"deployer: *job.Panic":                                panicky,
	"internal/runtime/sandbox: *job.Panic":                panicky,

	"internal/runtime/sandbox: *EndedError":      answer,
	"internal/runtime/sandbox: errEvicted":       answer,
	"internal/runtime/sandbox: errTooLong":       words,
	"internal/runtime/sandbox: errTooManyValues": words,
	"internal/runtime/sandbox: errTooMany":       words,

	"internal/model/dataflow: ErrMissing":    "a value is missing where a reader, which may be that of a caller, has none",
	"internal/model/dataflow: *MissingError": "the missing values of all imports are a result: MissingOf",
	"internal/model/dataflow: *LimitError":   words,

	"internal/model/dataflow/valueobject: *json.UnmarshalTypeError":  parsing,
	"internal/controller/shootflux/config: *json.UnmarshalTypeError": parsing,

	"internal/controller/installation/resolve: *repocontext.ReadError": "a read that has failed counts as an outage, which ends after a time",
	"internal/controller/installation/observe: *repocontext.ReadError": "a read that has failed says nothing about the import",
	"internal/controller/installation: deliveryplan.ErrTooLarge":       words,
	"internal/controller/installation: deliveryplan.ErrDamaged":        answer,
	"internal/controller/installation: *plan.SubinstallationError":     words,
	"internal/controller/installation: *plan.StepError":                words,
	"internal/controller/installation: *plan.ImportError":              words,

	"internal/controller/targetsync: apierrors.APIStatus": words,

	"internal/controller/channel: expectations.RetryAfter": "its writes of a status trigger no reconcile, so that the pause is shorter",
	"internal/controller/channel: *job.Panic":              panicky,
	"internal/controller/channel: *repocontext.ReadError":  "a read that has failed says nothing about the version that is looked at",
	"internal/controller/channel: oci.ErrNotFound":         answer,
	"internal/controller/channel: registry.ErrDenied":      answer,

	"internal/controller/shootflux/access: errNotYet":       answer,
	"internal/controller/shootflux/config: ErrNoGarden":     answer,
	"internal/controller/shootflux/managed: unreadable":     answer,
	"internal/controller/shootflux/sshkey: *egress.Refused": answer,

	"internal/controller/shootflux/sourcesecret: ErrNoCredentials":           "an error that is one of these, too",
	"internal/controller/shootflux/sourcesecret: config.ErrNoGarden":         answer,
	"internal/controller/shootflux/lifecycle: sourcesecret.ErrNoCredentials": words,
	"internal/controller/shootflux/lifecycle: config.ErrNotConfigured":       words,
	"internal/controller/shootflux/lifecycle: install.ErrVersion":            words,
	"internal/controller/shootflux/lifecycle: *config.Invalid":               words,
	"internal/controller/shootflux/lifecycle: coded":                         words,

	"deployer: *job.Error":           words,
	"deployer: errNoEarlierTarget{}": words,
}

// standard are errors of the standard library: answers of calls.
var standard = regexp.MustCompile(`^(io|fs|os|context|bufio|http|net)\.`)

var sentinel = regexp.MustCompile(`(^|[.: ])[eE]rr[A-Z]\w*$`)

// TestSteering: control flow by errors does not grow. A new error that is asked for needs a reason here,
// or becomes a result.
func TestSteering(t *testing.T) {
	found := map[string]bool{}
	for _, s := range sources(t, heart...) {
		s.functions(func(function *ast.FuncDecl) {
			for _, asked := range askedErrors(function) {
				if !standard.MatchString(asked) {
					found[s.dir+": "+asked] = true
				}
			}
		})
	}
	for _, asked := range slices.Sorted(maps.Keys(found)) {
		if permitted[asked] == "" {
			t.Errorf("%s: return it as a result that a decision depends on, or say here why it is an error", asked)
		}
	}
	for _, asked := range slices.Sorted(maps.Keys(permitted)) {
		if !found[asked] {
			t.Errorf("%s is not asked for any more: remove it here", asked)
		}
	}
	sentinels := slices.DeleteFunc(slices.Sorted(maps.Keys(found)), func(asked string) bool { return !sentinel.MatchString(asked) })
	t.Logf("%d errors are asked for, and %d of them are sentinels: %q", len(found), len(sentinels), sentinels)
}

// askedErrors returns the errors that a function compares with, or looks for, in the order of its text.
func askedErrors(function *ast.FuncDecl) (asked []string) {
	ast.Inspect(function, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.CallExpr:
			if one := askedBy(function, node); one != "" {
				asked = append(asked, one)
			}
		case *ast.BinaryExpr:
			if node.Op != token.EQL && node.Op != token.NEQ {
				return true
			}
			for _, side := range []ast.Expr{node.X, node.Y} {
				if text := types.ExprString(side); sentinel.MatchString(text) {
					asked = append(asked, text)
				}
			}
		}
		return true
	})
	return asked
}

// askedBy returns the error that a call asks for, or "".
func askedBy(function *ast.FuncDecl, call *ast.CallExpr) string {
	switch name := types.ExprString(call.Fun); {
	case name == "errors.Is":
		return types.ExprString(call.Args[1])
	case name == "errors.As":
		return typeOf(function, call.Args[1])
	case strings.HasPrefix(name, "errors.AsType["):
		return strings.TrimSuffix(strings.TrimPrefix(name, "errors.AsType["), "]")
	case name == "expectations.IsDeleted", name == "expectations.RetryAfter":
		return name
	}
	return ""
}

// typeOf returns the type of the error that errors.As looks for.
func typeOf(function *ast.FuncDecl, into ast.Expr) string {
	if made, is := into.(*ast.CallExpr); is {
		return types.ExprString(made.Args[0]) // new(T)
	}
	pointer, is := into.(*ast.UnaryExpr)
	if !is {
		return types.ExprString(into)
	}
	if literal, is := pointer.X.(*ast.CompositeLit); is {
		return types.ExprString(literal)
	}
	name, found := types.ExprString(pointer.X), ""
	ast.Inspect(function, func(node ast.Node) bool {
		if declared, is := node.(*ast.ValueSpec); is && slices.ContainsFunc(declared.Names, func(n *ast.Ident) bool { return n.Name == name }) {
			found = types.ExprString(declared.Type)
		}
		return true
	})
	return found
}

// TestAskedErrors: no way to be steered by an error is overlooked.
func TestAskedErrors(t *testing.T) {
	for _, test := range []struct{ reason, body, want string }{
		{"a sentinel", "if errors.Is(err, other.ErrBusy) { return }", "other.ErrBusy"},
		{"one of this package, compared as a value", "if err == errBusy { return }", "errBusy"},
		{"or unequal", "if nil != err && errBusy != err { return }", "errBusy"},
		{"a type", "var busy *other.Busy\nif errors.As(err, &busy) { return }", "*other.Busy"},
		{"a type without a variable", "if errors.As(err, new(busy)) { return }", "busy"},
		{"a literal", "if errors.As(err, &busy{}) { return }", "busy{}"},
		{"a type as a parameter", "if _, is := errors.AsType[*busy](err); is { return }", "*busy"},
		{"a cache that is behind", "if expectations.IsDeleted(err) { return }", "expectations.IsDeleted"},
		{"any error is no certain one", "if err != nil { return }", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			file, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\nfunc f(err error) {\n"+test.body+"\n}", parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			source{"a", file}.functions(func(function *ast.FuncDecl) {
				if got := strings.Join(askedErrors(function), " "); got != test.want {
					t.Errorf("found %q, want %q", got, test.want)
				}
			})
		})
	}
}
