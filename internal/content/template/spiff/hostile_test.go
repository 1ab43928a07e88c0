package spiff_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/internal/content/template/spiff"
	"go.landscaper.dev/internal/runtime/sandbox"
	"go.landscaper.dev/internal/runtime/sandbox/sandboxtest"
)

// TestMain makes this program a process that evaluates templates.
func TestMain(m *testing.M) {
	sandboxtest.Main(m, map[string]sandbox.Handler{"evaluate": func(_ context.Context, body []byte, _ sandbox.Ask) ([]byte, error) {
		engine, err := spiff.New(spiff.Config{Features: []string{spiff.FeatureControl}})
		if err != nil {
			return nil, err
		}
		return nil, evaluate(engine, string(body))
	}})
}

// tooMuch is in the errors of what the process has ended: whether its memory, its stack or its time
// comes first follows from the machine.
const tooMuch = "the template took more than "

// attackTimeout is above what the engine needs to refuse something, where it has a processor.
const attackTimeout = time.Second

// hostile is a template that tries to use up time or memory.
type hostile struct {
	reason   string
	template string
	want     string // part of the message
}

func hostileTemplates() []hostile {
	doubling := "a0: [1,1,1,1,1,1,1,1,1,1]\n"
	for i := 1; i < 40; i++ {
		doubling += fmt.Sprintf("a%d: (( [%s] ))\n", i, strings.Repeat(fmt.Sprintf("a%d,", i-1), 9)+fmt.Sprintf("a%d", i-1))
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'n'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c,", c-1), 8), c-1)
	}
	return []hostile{
		{"a list that grows by itself", "x: (( sum[[1..100000]|[1]|s,i|->s s] ))", tooMuch},
		{"a map of lists of lists", "x: (( map[[1..1000000]|i|->[1..1000000]] ))", tooMuch},
		{"values that share their parts", doubling, tooMuch},
		{"endless recursion", "f: (( &temporary(|x|->_(x + 1)) ))\ny: (( .f(1) ))", "nested deeper"},
		{"exponential recursion", "f: (( &temporary(|x|->x < 2 ? x :_(x - 1) + _(x - 2)) ))\ny: (( .f(60) ))", "steps"},
		{"recursion through eval", "s: eval(s)\nx: (( eval(s) ))", "nested deeper"},
		{"a template that uses itself", "t: {<<: (( &template )), a: (( *_ ))}\nx: (( *t ))", "resolution of template"},
		{"an exponential text", "x: (( sum[[1..60]|\"0123456789\"|s,i|->s s] ))", tooMuch},
		{"a long text many times", "a: (( &temporary(sum[[1..20]|\"0123456789\"|s,i|->s s]) ))\nx: (( map[[1..100000]|i|->a] ))", tooMuch},
		{"a lambda that prints exponentially", "x: (( sum[[1..40]|\"a\"|s,i|->lambda |p=[s,s]|->p] ))", tooMuch},
		{"nested values", "x: (( sum[[1..100000]|[]|s,i|->[s]] ))", ""},
		{"nested brackets", "x: (( " + strings.Repeat("(", 200_000) + "1" + strings.Repeat(")", 200_000) + " ))", "nested deeper"},
		{"nested negations", "x: (( " + strings.Repeat("!", 200_000) + "1 ))", "nested deeper"},
		{"nested calls", "f: (( |x|->x ))\nx: (( .f" + strings.Repeat("(1)", 100_000) + " ))", "more than 1000 calls"},
		{"nested YAML", "x: " + strings.Repeat("[", 200_000), "depth"},
		{"an alias bomb", bomb, "aliases"},
		{"an anchor that contains itself", "a: &a [*a]", "contains itself"},
		{"a costly search", "t: (( &temporary(sum[[1..14]|\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"|s,i|->s s]) ))\n" +
			"x: (( match(\"(a*)*(a*)*(a*)*b|a\", t, -1) ))", tooMuch},
		{"a regular expression with groups that each step copies", "t: (( &temporary(sum[[1..1300]|\"\"|s,i|->s \"(a|b)*\"]) ))\nx: (( match(t, \"aaaa\") ))", "too complex"},
		{"a huge regular expression", `x: (( match("((a{1,1000}){1,1000}){1,10}", "aaaa") ))`, "invalid regular expression"},
		{"a wide format", `x: (( format("%999999999d", 1) ))`, "width"},
		{"a replacement between all characters",
			"a: (( &temporary(sum[[1..20]|\"a\"|s,i|->s s]) ))\nx: (( replace(a, \"\", a) ))", tooMuch},
		{"a long separator", "a: (( &temporary(sum[[1..20]|\"a\"|s,i|->s s]) ))\nx: (( join(a, [1..100000]) ))", tooMuch},
		{"a long operand many times", "a: (( &temporary(sum[[1..20]|\"a\"|s,i|->s s]) ))\n" +
			"f: (( &temporary(sum[[1..10]|\"%[1]s\"|s,i|->s s]) ))\nx: (( format(f, a) ))", tooMuch},
		{"writing a large value again and again",
			"l: (( &temporary([1..500000]) ))\nx: (( sum[[1..1000]|0|s,i|->s + length(asyaml(l))] ))", "steps"},
		{"comparing a large value again and again",
			"l: (( &temporary([1..500000]) ))\nx: (( sum[[1..100000]|0|s,i|->l == l ? s :s] ))", "steps"},
		{"loops in loops", "x:\n  <<for:\n    a: (( [1..1000] ))\n    b: (( [1..1000] ))\n    c: (( [1..1000] ))\n  <<do: 1", tooMuch},
		{"text that is an expression again and again", `x: (( sum[[1..200]|"1"|s,i|->"(( " asjson(s) " ))"] ))`, ""},
		{"many key derivations", `x: (( map[[1..1000]|i|->x509genkey(4096)] ))`, "steps"},
		{"a cut set that is as long as its text", `x: (( trim(sum[[1..20]|"a"|s,i|->s s], sum[[1..20]|"ba"|s,i|->s s]) ))`, ""},
		{"a lambda that lets a text explode", `x: (( replace(sum[[1..20]|"a"|s,i|->s s], "a", |m|->sum[[1..10]|"b"|s,i|->s s]) ))`, tooMuch},
		{"a replacement of the whole text at every place", `x: (( replace_match(sum[[1..18]|"a"|s,i|->s s], "", sum[[1..13]|"b"|s,i|->s s]) ))`, tooMuch},
		{"many keys to derive", `x: (( map[[1..600000]|i|->encrypt(i, "k", "3DES")] ))`, tooMuch},
		{"a long password", `x: (( md5crypt(sum[[1..24]|"a"|s,i|->s s]) ))`, tooMuch},
		{"a long password to check", `x: (( md5crypt_check(sum[[1..24]|"a"|s,i|->s s], "$apr1$a$b") ))`, tooMuch},
		{"one large text in many files", `x: (( ( $x=sum[[1..20]|"a"|s,i|->s s] ) archive(map{map[[1..1000]|i|->"f" i]|f|->x}) ))`, tooMuch},
		{"a long random text", `x: (( rand("a", 9223372036854775807) ))`, tooMuch},
		{"the same width many times", `x: (( format(sum[[1..18]|"%9999[1]d"|s,i|->s s], 1) ))`, tooMuch},
		{"the same precision many times", `x: (( format(sum[[1..18]|"%.9999[1]f"|s,i|->s s], 1.5) ))`, tooMuch},
		{"a long number many times", `x: (( format(sum[[1..20]|"%[1]f"|s,i|->s s], 1e308) ))`, tooMuch},
		{"all addresses", `x: (( ipset("::/0", 9223372036854775807) ))`, tooMuch},
		{"a text that doubles", `x: (( sum[[1..60]|"ab"|s,i|->s s] ))`, tooMuch},
		{"a list that doubles", `x: (( sum[[1..60]|[1]|s,i|->s s] ))`, tooMuch},
		{"a map that grows", `x: (( sum[[1..50000]|{}|s,i|->s { "k" i = 1 }] ))`, tooMuch},
		{"a long range", `x: (( [1..100000000] ))`, "steps"},
		{"a range over all numbers", `x: (( [-9223372036854775808..9223372036854775807] ))`, "steps"},
		{"all numbers downwards", `x: (( [9223372036854775807..-9223372036854775808] ))`, "steps"},
		{"ranges that multiply", "l: (( &temporary ([1..2000]) ))\na: {<<for: {x: (( l )), y: (( l )), z: (( l ))}, <<do: 1}", "steps"},
		{"a set of long lists that differ at their end", `x: (( ( $l=[1..160] ) ( $s=map[[1..8000]|i|->l ["x" i]] ) map[[1..8000]|i|->check(l [i], ["valueset", s])] ))`, tooMuch},
		{"checks that double in every level", `x: (( check(sum[[1..40]|[1]|s,i|->[s, s]], sum[[1..40]|["list"]|s,i|->["list", s]]) ))`, tooMuch},
		{"uniq of many equal lists", `x: (( uniq(map[[1..100000]|i|->[i, [i]]]) ))`, tooMuch},
		{"uniq of long lists that differ at their end", `x: (( ( $l=[1..160] ) uniq(map[[1..12000]|i|->l [i]]) ))`, tooMuch},
		{"intersect of long lists that differ at their end", `x: (( ( $l=[1..160] ) intersect(map[[1..9000]|i|->l [i]], map[[1..8900]|i|->l ["x" i]]) ))`, tooMuch},
		{"merging again and again", `x: (( sum[[1..100000]|{}|s,i|->deepmerge(s, makemap("k" i, {"a"=i}))] ))`, tooMuch},
	}
}

// TestHostile: each template ends with an error that says what it is, within the bounds of its
// process.
func TestHostile(t *testing.T) {
	pool := sandboxtest.Pool(t, func(o *sandbox.Options) { o.Timeout = attackTimeout })
	run := func(template string) error {
		_, err := pool.Do(t.Context(), sandbox.Work{Tenant: "a", Name: "evaluate", Title: "the template", Encode: func() ([]byte, error) { return []byte(template), nil }})
		return err
	}
	for _, tt := range hostileTemplates() {
		t.Run(tt.reason, func(t *testing.T) {
			begin := time.Now()
			err := run(tt.template)
			t.Logf("%s, %.300v", time.Since(begin).Round(time.Millisecond), err)
			if err == nil && tt.want == "" || err != nil && strings.HasPrefix(err.Error(), tooMuch) {
				return // on a busy machine, each may be ended by the process
			}
			if err == nil || tt.want == "" || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %.300v, want %q", err, tt.want)
			}
		})
	}
	if err := run("x: 1"); err != nil {
		t.Errorf("what comes next: %v", err)
	}
}

func evaluate(engine *spiff.Engine, template string) error {
	doc, err := spiff.ParseOne([]byte(template), "template.yaml")
	if err != nil {
		return err
	}
	result, err := engine.Process(context.Background(), doc, spiff.Input{}, spiff.Options{})
	if err != nil {
		return err
	}
	_, err = result.YAML()
	return err
}

func TestTimeLimitAborts(t *testing.T) {
	engine, err := spiff.New(spiff.Config{Limits: spiff.Limits{Time: 1, Steps: 1 << 40}})
	if err != nil {
		t.Fatal(err)
	}
	err = evaluate(engine, "f: (( &temporary(|x|->x < 2 ? x :_(x - 1) + _(x - 2)) ))\ny: (( .f(40) || 1 ))")
	if !errors.Is(err, spiff.ErrTimeLimit) {
		t.Errorf("error is %v", err)
	}
}

func TestCancellation(t *testing.T) {
	engine, err := spiff.New(spiff.Config{Limits: spiff.Limits{Steps: 1 << 40}})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := spiff.ParseOne([]byte("f: (( &temporary(|x|->x < 2 ? x :_(x - 1) + _(x - 2)) ))\ny: (( .f(60) || 1 ))"), "t")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := engine.Process(ctx, doc, spiff.Input{}, spiff.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}
