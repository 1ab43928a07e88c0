package spiff_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/content/template/spiff"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestReports compares the reports of failing templates with golden files.
func TestReports(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no templates found: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for run := range 3 { // the order must be stable
				got := reportOf(t, text) + "\n"
				golden := strings.TrimSuffix(file, ".yaml") + ".golden"
				if *update {
					if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(golden)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Fatalf("run %d (-want +got):\n%s", run, diff)
				}
			}
		})
	}
}

func reportOf(t *testing.T, template []byte) string {
	t.Helper()
	engine, err := spiff.New(spiff.Config{Features: []string{spiff.FeatureControl}})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := spiff.ParseOne(template, "template.yaml")
	if err != nil {
		return err.Error()
	}
	_, err = engine.Process(context.Background(), doc, spiff.Input{
		Bindings: map[string]any{"imports": map[string]any{"size": 3}, "name": "bound"},
	}, spiff.Options{})
	if err == nil {
		t.Fatal("template does not fail")
	}
	return err.Error()
}

// TestSensitiveBindings evaluates expressions that put bound values into
// messages in every way we know of.
func TestSensitiveBindings(t *testing.T) {
	expressions := []string{
		`error(secret)`, `error("%s", secret)`, `error("x" secret)`, `error(secret, 1)`, `error("%d", n)`,
		`secret + 1`, `secret * 2`, `"10.0.0.1" - secret`, `integer(secret)`, `float(secret)`, `bool(secret)`,
		`base64_decode(secret)`, `nope[secret]`, `map[secret]`, `list[secret]`, `list[n]`, `.[secret]`, `element(map, secret "x")`,
		`read(secret)`, `list_files(secret)`, `semver(secret)`, `semvermatch("1.0.0", secret)`, `min_ip(secret)`,
		`contains_ip("10.0.0.0/8", secret)`, `ipset(secret, 1)`, `match(secret "(", "x")`, `hash("x", secret)`,
		`rand(secret "\\p{Nope}")`, `parse("{" secret)`, `parse("a", secret)`, `eval(secret " (")`, `lambda secret`,
		`validate(secret, ["value", "x"])`, `validate(n, ["lt", 2000000])`, `validate(1, ["gt", n])`,
		`validate(secret, ["match", "^$"])`, `validate(map, ["mapfield", secret "x"])`, `validate(1, secret)`,
		`validate(secret, |x|->[false, "bad " x])`, `validate(map, ["map", "ip", nil])`, `x509publickey(secret)`, `decrypt(secret, secret)`,
		`encrypt(1, secret, secret)`, `sync[secret|v|->v]`, `(|x|->x.y)(secret)`, `(|x|->error("no"))(secret)`,
		`stub(secret)`, `stub([secret])`, `tagdef(secret "+", 1)`, `env(secret)`, `secret()`, `split(secret, 1)`, `format(n, secret)`,
		`catch[error(secret)|v,e|->error(e)]`, `secret == list`, `secret < 1`, `{ n = 1 }`, `[1..secret]`, `merge({ secret = "(( nope ))" })`,
		`{ secret = "(( nope ))" }`, `map{{ secret = 1 }|k,v|->error(k)}`, `*secret`, `host(secret)`, `require(nil) || error(secret)`,
		`error(~~, secret)`, `error(~~, "%s", secret)`, `error("x", ~~, "%s", secret)`, `format(1, secret)`, `semver(secret)`, `replace(secret, 1, 2)`,
		`rand(secret "][")`, `x509cert({ "usage" = secret })`, `archive({ "a" = { "x" = secret } }, secret)`, `decrypt(secret)`, `base64_decode(secret)`,
	}
	engine, err := spiff.New(spiff.Config{
		Sensitive: true,
		Functions: map[string]spiff.Function{
			"host": func(context.Context, []any) (any, error) { return nil, errors.New("no") },
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	const number = 7654321
	bindings := map[string]any{
		"secret": canary, "n": number, "list": []any{canary}, "map": map[string]any{canary: canary},
	}
	for _, x := range expressions {
		t.Run(x, func(t *testing.T) {
			doc, err := spiff.FromData(map[string]any{"a": "(( " + x + " ))", "b": "(( a ))"}, "mapping")
			if err != nil {
				t.Fatal(err)
			}
			_, err = engine.Process(context.Background(), doc, spiff.Input{Bindings: bindings}, spiff.Options{})
			if err == nil {
				t.Fatal("it does not fail")
			}
			if text := err.Error(); strings.Contains(text, canary) || strings.Contains(text, fmt.Sprint(number)) {
				t.Errorf("it tells the bound value: %s", text)
			}
		})
	}
}
