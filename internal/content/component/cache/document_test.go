package cache

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/opencontainers/go-digest"
)

// page is a server of one document.
type page struct {
	text, validator string
	err             error
	// asked and sent count questions and whole answers.
	asked, sent atomic.Int64
}

func (p *page) ask(_ context.Context, validator string) (Document, error) {
	p.asked.Add(1)
	switch {
	case p.err != nil:
		return Document{}, p.err
	case p.validator != "" && p.validator == validator:
		return Document{Unchanged: true}, nil
	}
	p.sent.Add(1)
	return Document{Data: []byte(p.text), Validator: p.validator}, nil
}

func TestDocument(t *testing.T) {
	const address = "https://example.org/index.yaml"
	for _, test := range []struct {
		reason      string
		validator   string
		tenant      string
		later       time.Duration
		change      func(*page)
		want        string
		asked, sent int64
	}{
		{"within the validity no server is asked", `"1"`, "a", time.Second, nil, "one", 1, 1},
		{"after the validity the server is asked whether the document is unchanged", `"1"`, "a", time.Minute, nil, "one", 2, 1},
		{"a server that has no name for the state sends it again", "", "a", time.Minute, nil, "one", 2, 2},
		{"what has changed is sent", `"1"`, "a", time.Minute, func(p *page) { p.text, p.validator = "two", `"2"` }, "two", 2, 2},
		{"another tenant has to get it with his own credentials", `"1"`, "b", time.Second, nil, "one", 2, 2},
		{"who is refused later gets nothing", `"1"`, "a", time.Minute, func(p *page) { p.err = errRefused }, "", 2, 1},
		{"another tenant who is refused gets nothing", `"1"`, "b", time.Second, func(p *page) { p.err = errRefused }, "", 2, 1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			now := &clock{time.Unix(1000, 0)}
			cache := New(1<<20, time.Minute, now.now)
			server := &page{text: "one", validator: test.validator}
			if _, err := cache.Document(t.Context(), Asker{Tenant: "a"}, Wanted{Address: address}, server.ask); err != nil {
				t.Fatal(err)
			}
			now.at = now.at.Add(test.later)
			if test.change != nil {
				test.change(server)
			}
			got, err := cache.Document(t.Context(), Asker{Tenant: test.tenant}, Wanted{Address: address}, server.ask)
			if string(got) != test.want || (test.want == "") != (err != nil) || server.asked.Load() != test.asked || server.sent.Load() != test.sent {
				t.Errorf("got %q, %v after %d questions and %d answers", got, err, server.asked.Load(), server.sent.Load())
			}
		})
	}
}

// TestDocumentOfAJob: a document may have been published again before a job, so that each
// job asks, once.
func TestDocumentOfAJob(t *testing.T) {
	one, other := digest.FromString("one"), digest.FromString("other")
	for _, test := range []struct {
		reason string
		job    string
		wanted Wanted
		asked  int64
	}{
		{"another item of the job that has asked", "job-1", Wanted{}, 1},
		{"another job", "job-2", Wanted{}, 2},
		{"a job that began before the document was asked for", "job-0", Wanted{}, 1},
		{"no job: what was said a moment ago counts", "", Wanted{}, 1},
		{"another job that knows the digest", "job-2", Wanted{Digest: one}, 1},
		{"another digest than that of what is kept", "job-1", Wanted{Digest: other}, 2},
		{"an address that stands for one document", "job-2", Wanted{Immutable: true}, 1},
		{"what is kept has turned out to be outdated", "job-1", Wanted{Anew: true}, 2},
	} {
		t.Run(test.reason, func(t *testing.T) {
			cache := New(1<<20, time.Minute, (&clock{time.Unix(1000, 0)}).now)
			server := &page{text: "one", validator: `"1"`}
			get := func(job string, wanted Wanted) {
				t.Helper()
				if _, err := cache.Document(t.Context(), Asker{Tenant: "a", Job: job}, wanted, server.ask); err != nil {
					t.Fatal(err)
				}
			}
			get("job-0", Wanted{Address: "https://example.org/before"})
			server.asked.Store(0)
			test.wanted.Address = "https://example.org/index.yaml"
			get("job-1", Wanted{Address: test.wanted.Address})
			get(test.job, test.wanted)
			if asked := server.asked.Load(); asked != test.asked {
				t.Errorf("the server was asked %d times, want %d", asked, test.asked)
			}
		})
	}
}

// TestUnchangedWithoutAQuestion is about a server that withholds a document.
func TestUnchangedWithoutAQuestion(t *testing.T) {
	cache := New(1<<20, time.Minute, time.Now)
	got, err := cache.Document(t.Context(), Asker{Tenant: "a"}, Wanted{Address: "https://example.org/x"}, func(context.Context, string) (Document, error) {
		return Document{Unchanged: true}, nil
	})
	if err == nil || got != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestPagesOpenNoRepositories: a page of a host gives no access to the repository of the same
// address.
func TestPagesOpenNoRepositories(t *testing.T) {
	data := []byte("secret chart")
	behind, d := newStore("private", "1", data)
	cache := New(1<<20, time.Minute, time.Now)
	if _, err := read(t, cache.Store(behind, "https://example.org", Asker{Tenant: "a"}), "private", d); err != nil {
		t.Fatal(err)
	}
	open := &page{text: "welcome"}
	if _, err := cache.Document(t.Context(), Asker{Tenant: "b"}, Wanted{Address: "https://example.org/private"}, open.ask); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, cache.Store(&counting{refuse: true}, "https://example.org", Asker{Tenant: "b"}), "private", d); !errors.Is(err, errRefused) {
		t.Errorf("got %q, %v", got, err)
	}
	same := &page{text: string(data)}
	if _, err := cache.Document(t.Context(), Asker{Tenant: "b"}, Wanted{Address: "https://example.org/same"}, same.ask); err != nil {
		t.Fatal(err)
	}
	if cache.Used() != int64(len(data)+len("welcome"))+2*entryOverhead {
		t.Errorf("equal contents are kept twice: %d bytes", cache.Used())
	}
}

// TestDocumentIsFetchedOnce has many ask at the same time.
func TestDocumentIsFetchedOnce(t *testing.T) {
	cache := New(1<<20, time.Minute, time.Now)
	server := &page{text: "one"}
	var all sync.WaitGroup
	for range 30 {
		all.Go(func() {
			if got, err := cache.Document(t.Context(), Asker{Tenant: "a"}, Wanted{Address: "https://example.org/x"}, server.ask); err != nil || string(got) != "one" {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	all.Wait()
	if server.asked.Load() != 1 {
		t.Errorf("%d questions", server.asked.Load())
	}
}

// TestLargeDocumentsAreNotKept: one document does not displace all others.
func TestLargeDocumentsAreNotKept(t *testing.T) {
	cache := New(4<<10, time.Minute, time.Now)
	server := &page{text: strings.Repeat("x", 2<<10), validator: "1"}
	for range 2 {
		if got, err := cache.Document(t.Context(), Asker{Tenant: "a"}, Wanted{Address: "https://example.org/x"}, server.ask); err != nil || len(got) != len(server.text) {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
	}
	if server.sent.Load() != 2 || cache.Used() != 0 {
		t.Errorf("sent %d times, %d bytes kept", server.sent.Load(), cache.Used())
	}
}
