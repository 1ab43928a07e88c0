package cluster

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/test/heap"
)

var (
	configMaps     = &meta.RESTMapping{Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Scope: meta.RESTScopeNamespace}
	configMapsKind = configMaps.GroupVersionKind
)

// maxGrowth is how much an attack may let the heap grow: an answer while it is read
// and its copy, and the same again until the garbage is collected.
const maxGrowth = 128 << 20

// little is what one list or watch may keep in tests that wait until that is used up: a
// twelfth of the usual.
const little = 8 << 20

// connected returns a connection to a handler, with a memory.
func connected(t *testing.T, memory int64, handler http.HandlerFunc) (*Connection, *Pool) {
	t.Helper()
	pool := NewPool(PoolOptions{Egress: lab, Memory: memory})
	connection, err := pool.Connect(t.Context(), speaking(t, handler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(connection.close)
	return connection, pool
}

// endless writes a beginning, and then the same again and again until the reader stops. The cost of
// a bug in the reader is bounded.
func endless(out io.Writer, begin, again string) (sent int64) {
	block := []byte(strings.Repeat(again, 1+(64<<10)/len(again)))
	n, err := io.WriteString(out, begin)
	sent = int64(n)
	for err == nil && sent < 256<<20 {
		n, err = out.Write(block)
		sent += int64(n)
	}
	return sent
}

// zipped is a text as one piece of a compressed answer. Pieces that are made before cost nothing
// when they are sent, so that the reader is slower than the sender.
func zipped(text string) string {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, _ = writer.Write([]byte(text)) // a buffer takes everything
	_ = writer.Close()
	return packed.String()
}

// TestAnswersWithoutEnd: no form of an answer without end takes more than a bounded
// amount of memory, and each ends the job with a reason.
func TestAnswersWithoutEnd(t *testing.T) {
	attacks := []struct {
		reason, header, begin, again string
		compressed                   bool
	}{
		{"a long text", "application/json", `{"kind":"ConfigMap","data":{"a":"`, "aaaaaaaaaaaaaaaa", false},
		{"a long text, compressed to almost nothing", "application/json", `{"kind":"ConfigMap","data":{"a":"`, "aaaaaaaaaaaaaaaa", true},
		{"small values, each far larger in memory", "application/json", `{"kind":"ConfigMap","data":[`, "[],", false},
		{"small objects, each far larger in memory", "application/json", `{"kind":"ConfigMapList","items":[`, "{},", false},
		{"deep ones", "application/json", "", "[", false},
		{"documents one after the other", "application/json", "", "{}", false},
		{"spaces", "application/json", "", " ", false},
		{"no form at all", "", "", "a", false},
	}
	for _, attack := range attacks {
		t.Run(attack.reason, func(t *testing.T) {
			var sent atomic.Int64
			connection, pool := connected(t, 0, func(out http.ResponseWriter, _ *http.Request) {
				if attack.header != "" {
					out.Header().Set("Content-Type", attack.header)
				}
				if !attack.compressed {
					sent.Store(endless(out, attack.begin, attack.again))
					return
				}
				out.Header().Set("Content-Encoding", "gzip")
				sent.Store(endless(out, zipped(attack.begin), zipped(strings.Repeat(attack.again, 1<<16))))
			})
			var err error
			grown := heap.Peak(func() { _, err = connection.Get(t.Context(), configMaps, "a", "b") })
			var jobError *job.Error
			if !errors.As(err, &jobError) || (jobError.Reason != reasons.AnswerTooLarge && jobError.Reason != reasons.ConnectionNotAllowed) || job.OutcomeOf(err) != job.Terminal || strings.Contains(err.Error(), "aaaa") {
				t.Errorf("%v", err)
			}
			if grown > maxGrowth {
				t.Errorf("the heap grew by %d MiB", grown>>20)
			}
			if pool.memory.Used.Load() != 0 {
				t.Errorf("%d bytes stay booked", pool.memory.Used.Load())
			}
		})
	}
}

// noStreaming is what a server says that does not list by watching.
const noStreaming = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"details":{"causes":[{"reason":"FieldValueForbidden","field":"sendInitialEvents"}]}}`

// TestWatchesWithoutEnd: a list or a watch that does not end stops this watch, tells
// those who wait, and gives back what it has booked.
func TestWatchesWithoutEnd(t *testing.T) {
	const event = `{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"namespace":"a","name":"n%d","resourceVersion":"1"},"data":{"a":"%s"}}}` + "\n"
	tests := []struct {
		reason       string
		metadataOnly bool
		answer       http.HandlerFunc
	}{
		{"a single large event", false, func(out http.ResponseWriter, _ *http.Request) {
			endless(out, `{"type":"ADDED","object":{"kind":"ConfigMap","data":{"a":"`, "aaaaaaaaaaaaaaaa")
		}},
		{"a single large event of a watch of metadata", true, func(out http.ResponseWriter, _ *http.Request) {
			endless(out, `{"type":"ADDED","object":{"kind":"PartialObjectMetadata","metadata":{"annotations":{"a":"`, "aaaaaaaaaaaaaaaa")
		}},
		{"many objects", false, func(out http.ResponseWriter, request *http.Request) {
			text := strings.Repeat("a", 1<<18)
			for i := range 4000 {
				if _, err := fmt.Fprintf(out, event, i, text); err != nil || request.Context().Err() != nil {
					return
				}
			}
		}},
		{"a list, of a server that does not stream", false, func(out http.ResponseWriter, request *http.Request) {
			if request.URL.Query().Has("watch") {
				write(out, http.StatusUnprocessableEntity, noStreaming)
				return
			}
			endless(out, `{"kind":"ConfigMapList","apiVersion":"v1","items":[`, `{"metadata":{"name":"x"}},`)
		}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			connection, pool := connected(t, 0, func(out http.ResponseWriter, request *http.Request) {
				out.Header().Set("Content-Type", "application/json")
				test.answer(out, request)
			})
			pool.memory.Each = little
			signalled := make(chan struct{}, 1000)
			var err error
			grown := heap.Peak(func() {
				subscription := connection.Subscribe(configMaps, "a", "b", test.metadataOnly, func() { signalled <- struct{}{} })
				for err == nil {
					select {
					case <-signalled:
						_, err = subscription.State()
					case <-time.After(5 * time.Minute):
						err = errors.New("the subscriber was not called")
					}
				}
				_ = subscription.Close()
			})
			var jobError *job.Error
			if !errors.As(err, &jobError) || jobError.Reason != reasons.AnswerTooLarge || strings.Contains(err.Error(), "aaaa") {
				t.Errorf("%v", err)
			}
			if grown > 3*maxGrowth {
				t.Errorf("the heap grew by %d MiB", grown>>20)
			}
			if used := pool.memory.Used.Load(); used != 0 {
				t.Errorf("%d bytes stay booked", used)
			}
		})
	}
}

// TestBudget: large answers at the same time share what the process has; usual ones
// are not touched by it.
func TestBudget(t *testing.T) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	connection, pool := connected(t, 4<<20, func(out http.ResponseWriter, request *http.Request) {
		out.Header().Set("Content-Type", "application/json")
		size := 1 << 10
		if strings.Contains(request.URL.Path, "large") {
			size = 4 << 20
		}
		_, _ = io.WriteString(out, `{"kind":"ConfigMap","apiVersion":"v1","data":{"a":"`+strings.Repeat("a", size))
		if strings.HasSuffix(request.URL.Path, "first-large") {
			out.(http.Flusher).Flush()
			close(begun)
			<-goOn
		}
		_, _ = io.WriteString(out, `"}}`)
	})
	first := make(chan error)
	go func() {
		_, err := connection.Get(t.Context(), configMaps, "a", "first-large")
		first <- err
	}()
	<-begun
	for pool.memory.Used.Load() < 2<<20 {
		runtime.Gosched()
	}
	if _, err := connection.Get(t.Context(), configMaps, "a", "second-large"); !errors.As(err, &answerlimit.Busy{}) || job.OutcomeOf(err) != job.Transient {
		t.Errorf("a second large answer: %v", err)
	}
	if _, err := connection.Get(t.Context(), configMaps, "a", "small"); err != nil {
		t.Errorf("a small answer: %v", err)
	}
	close(goOn)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if _, err := connection.Get(t.Context(), configMaps, "a", "third-large"); err != nil || pool.memory.Used.Load() != 0 {
		t.Errorf("afterwards: %v, %d bytes stay booked", err, pool.memory.Used.Load())
	}
}

// TestRefusedAnswers: what is no answer of an API server is refused without a word
// of it.
func TestRefusedAnswers(t *testing.T) {
	var stolen atomic.Value
	stolen.Store("")
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		stolen.Store("asked, with " + request.Header.Get("Authorization"))
	}))
	defer thief.Close()
	tests := []struct {
		reason string
		want   reasons.Reason
		answer http.HandlerFunc
	}{
		{"a redirect takes no token along, and is not followed at all", reasons.ConnectionNotAllowed, func(out http.ResponseWriter, request *http.Request) {
			http.Redirect(out, request, thief.URL+"/"+secretWord, http.StatusTemporaryRedirect)
		}},
		{"a redirect within the server", reasons.ConnectionNotAllowed, func(out http.ResponseWriter, request *http.Request) {
			http.Redirect(out, request, "/"+secretWord, http.StatusFound)
		}},
		{"a page", reasons.ConnectionNotAllowed, func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(out, secretWord)
		}},
		{"a form whose cost cannot be seen", reasons.ConnectionNotAllowed, func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
		}},
		{"no JSON", reasons.AnswerNotReadable, func(out http.ResponseWriter, _ *http.Request) { write(out, http.StatusOK, secretWord) }},
		{"an object of no kind", reasons.AnswerNotReadable, func(out http.ResponseWriter, _ *http.Request) {
			write(out, http.StatusOK, `{"data":"`+secretWord+`"}`)
		}},
		{"a field of another type", reasons.AnswerNotReadable, func(out http.ResponseWriter, _ *http.Request) {
			write(out, http.StatusOK, `{"kind":"ConfigMap","apiVersion":["`+secretWord+`"]}`)
		}},
		{"levels without end, and complete", reasons.AnswerNotReadable, func(out http.ResponseWriter, _ *http.Request) {
			write(out, http.StatusOK, `{"kind":"ConfigMap","apiVersion":"v1","data":`+strings.Repeat(`{"`+secretWord+`":`, 100_000)+"1"+strings.Repeat("}", 100_001))
		}},
		{"an answer that ends in the middle", reasons.ClusterUnreachable, func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Length", "1000")
			write(out, http.StatusOK, `{"kind":"`+secretWord)
		}},
		{"a header without end", reasons.ClusterUnreachable, func(out http.ResponseWriter, _ *http.Request) {
			for i := range 64 {
				out.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat(secretWord, 4000))
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			connection, _ := connected(t, 0, test.answer)
			_, err := connection.Get(t.Context(), configMaps, "a", "b")
			var jobError *job.Error
			if !errors.As(err, &jobError) || jobError.Reason != test.want || strings.Contains(err.Error(), secretWord) || stolen.Load() != "" {
				t.Errorf("%v; the other server was %q", err, stolen.Load())
			}
		})
	}
}

// TestOnlyJSONIsAccepted looks at what is asked for.
func TestOnlyJSONIsAccepted(t *testing.T) {
	var accepted atomic.Value
	connection, _ := connected(t, 0, func(out http.ResponseWriter, request *http.Request) {
		accepted.Store(request.Header.Get("Accept"))
		write(out, http.StatusOK, `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[]}`)
	})
	if _, err := connection.metadata.Resource(configMaps.Resource).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, _ := accepted.Load().(string); strings.Contains(got, "protobuf") || !strings.Contains(got, "application/json;as=PartialObjectMetadataList") {
		t.Errorf("accepted %q", got)
	}
}

// TestTargetsKeepToThePolicy: a Target leads neither to this machine nor through a
// proxy, and its message tells the rule and nothing that was found there.
func TestTargetsKeepToThePolicy(t *testing.T) {
	var asked atomic.Int32
	target := speaking(t, func(out http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		write(out, http.StatusOK, "{}")
	})
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer proxy.Close()
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	connection, err := NewPool(PoolOptions{}).Connect(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	_, err = connection.Mapping(t.Context(), configMapsKind)
	var refused *egress.Refused
	if !errors.As(err, &refused) || refused.Rule != egress.RuleLoopback || job.OutcomeOf(err) != job.Terminal || asked.Load() != 0 {
		t.Errorf("%v, %d requests", err, asked.Load())
	}
	// The cloud's own address is decided about and not connected to.
	for _, host := range []string{"169.254.169.254", "[fd00:ec2::254]", "[::ffff:169.254.169.254]", "0.0.0.0"} {
		t.Run(host, func(t *testing.T) {
			if err := (egress.Policy{AllowLoopback: true}).CheckHost(host); err == nil {
				t.Errorf("%s is allowed", host)
			}
		})
	}
	if _, err := connection.httpClient.Get("http://127.0.0.1:1/"); !errors.Is(err, clustererror.ErrPlain) { //nolint:bodyclose // nothing is answered
		t.Errorf("a token without TLS: %v", err)
	}
}

func newConfigMap() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "a", "name": "b"}}}
}

// TestPagesWithoutEnd: each page of a list is small, and there is always another one.
func TestPagesWithoutEnd(t *testing.T) {
	text := strings.Repeat("a", 1<<20)
	connection, pool := connected(t, 0, func(out http.ResponseWriter, _ *http.Request) {
		write(out, http.StatusOK, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"continue":"more"},"items":[{"kind":"ConfigMap","apiVersion":"v1","data":{"a":"`+text+`"}}]}`)
	})
	pool.memory.Each = little
	var err error
	grown := heap.Peak(func() { _, err = connection.List(t.Context(), configMaps, "a", nil) })
	var jobError *job.Error
	if !errors.As(err, &jobError) || jobError.Reason != reasons.AnswerTooLarge || grown > 3*maxGrowth || pool.memory.Used.Load() != 0 {
		t.Errorf("%v, the heap grew by %d MiB, %d bytes stay booked", err, grown>>20, pool.memory.Used.Load())
	}
}
