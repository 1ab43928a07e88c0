package pages

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/test/console/browser"
)

const (
	// manyRoots are in so many namespaces.
	manyRoots, manySpaces = 10_000, 100
	// goal is what a search should take, and slowest what it may take on a machine that does much else.
	goal, slowest = time.Second, 10 * time.Second
)

// many are Installations, each with an item on a Target.
func many() inspect.Snapshot {
	s := inspect.Snapshot{Now: time.Now()}
	for i := range manyRoots {
		space, name := fmt.Sprintf("space-%d", i%manySpaces), fmt.Sprintf("root-%04d", i)
		inst := part(name, "", times(90, 90, 80, 60), wires(fmt.Sprintf("subnet-%04d", i), fmt.Sprintf("address-%04d", i)))
		inst.Namespace, inst.Status.ExecutionReference.Namespace = space, space
		inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/app", Version: fmt.Sprintf("1.%04d.0", i)}}
		e, d := execution(name, "item", fmt.Sprintf("cluster-%04d", i), times(90, 90, 80, 60))
		e.Namespace, d.Namespace, d.Spec.Target.Namespace = space, space, space
		e.OwnerReferences = []metav1.OwnerReference{{Kind: "Installation", Name: name, UID: types.UID(name)}}
		s.Installations, s.Executions, s.DeployItems = append(s.Installations, inst), append(s.Executions, e), append(s.DeployItems, d)
	}
	return s
}

// search types a text, and returns how long the page took from the last key, and from the first one, until it
// shows a text about what was found.
func search(t *testing.T, page *browser.Tab, text, said string) (last, first time.Duration) {
	t.Helper()
	page.Follow("header", "Landscaper")
	page.Await(`document.querySelectorAll(".rows li").length === 200 && !document.querySelector("main p.hint[role=status]")`)
	found := fmt.Sprintf(`document.querySelector("main p.hint[role=status]")?.textContent.startsWith(%q)`, said)
	page.Is(`(() => {
		const field = document.querySelector("header input");
		field.focus();
		const keys = [];
		field.addEventListener("input", () => keys.push(performance.now()));
		new MutationObserver((_, observer) => {
			if (!(` + found + `)) return;
			observer.disconnect();
			window.last = String(performance.now() - keys.at(-1));
			window.first = String(performance.now() - keys[0]);
		}).observe(document.body, {childList: true, subtree: true, characterData: true});
		return true;
	})()`)
	page.Do(chromedp.KeyEvent(text))
	page.Await(found)
	return milliseconds(t, page.Evaluate(`window.last`)), milliseconds(t, page.Evaluate(`window.first`))
}

func milliseconds(t *testing.T, text string) time.Duration {
	t.Helper()
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(number * float64(time.Millisecond)).Round(time.Millisecond)
}

// TestMany: among 10,000 Installations, the overview opens, and a search finds each kind of text in a second.
// The times are in the log.
func TestMany(t *testing.T) {
	w := newWorld()
	w.snapshot = many()
	page, _, _, _ := open(t, w)
	page.Await(`document.querySelector(".counts b")?.textContent === "10000"`)
	page.AwaitText("9800 more are not shown")
	t.Logf("the overview is there %v after the document was asked for", milliseconds(t, page.Evaluate(`String(performance.now())`)))
	for _, test := range []struct{ reason, text, said, place string }{
		{"the name of an Installation, and of its Execution", "root-7342", "2 found", "Installation root-7342"},
		{"the version of a component", "1.6021.0", "1 found", "version 1.6021.0"},
		{"a Target, by its item", "cluster-5150", "1 found", "on Target cluster-5150"},
		{"the name of an import", "subnet-8086", "1 found", "imports subnet-8086"},
		{"the name of an export", "address-9999", "1 found", "exports address-9999"},
		{"what is nowhere, so that all is searched", "cluster-x", "Nothing has “cluster-x”", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			last, first := search(t, page, test.text, test.said)
			page.AwaitText(test.place)
			t.Logf("%s: %v after the last key, %v after the first (the goal is %v)", test.text, last, first, goal)
			if last > slowest {
				t.Errorf("%s was found after %v", test.text, last)
			}
		})
	}
}
