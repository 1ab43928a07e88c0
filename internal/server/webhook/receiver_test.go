package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/server/listen"
)

const secret = "0123456789abcdef0123"

// bench is a receiver with its server.
type bench struct {
	url   string
	polls chan types.NamespacedName
	// clock is the time of the receiver.
	clock *clock
	reads *int
	*Receiver
}

// clock is a clock that a test moves, with what is to happen later.
type clock struct {
	mutex sync.Mutex
	now   time.Time
	later []func()
}

func (c *clock) Now() time.Time {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.now
}

// after calls at once what is due, and keeps the rest.
func (c *clock) after(pause time.Duration, do func()) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if pause == 0 {
		go do()
		return
	}
	c.later = append(c.later, do)
}

// move moves the clock, and calls what was kept.
func (c *clock) move(by time.Duration) int {
	c.mutex.Lock()
	c.now = c.now.Add(by)
	later := c.later
	c.later = nil
	c.mutex.Unlock()
	for _, do := range later {
		do()
	}
	return len(later)
}

func start(t *testing.T) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, fleetv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	channel := func(name string, form fleetv1alpha1.WebhookType, secret string) client.Object {
		ch := &fleetv1alpha1.Channel{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: fleetv1alpha1.ChannelSpec{Component: "example.org/shop"}}
		if form != "" {
			ch.Spec.Webhook = &fleetv1alpha1.ChannelWebhook{Type: form, SecretRef: fleetv1alpha1.WebhookSecret{Name: secret}}
		}
		return ch
	}
	reads := 0
	objects := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		channel("hmac", fleetv1alpha1.WebhookHMAC, "hook"), channel("registry", fleetv1alpha1.WebhookRegistry, "hook"),
		channel("closed", "", ""), channel("nosecret", fleetv1alpha1.WebhookHMAC, "missing"), channel("short", fleetv1alpha1.WebhookHMAC, "short"),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "hook"}, Data: map[string][]byte{"token": []byte(secret + "\n")}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "short"}, Data: map[string][]byte{"token": []byte("short")}},
	).WithInterceptorFuncs(interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
		if _, is := object.(*corev1.Secret); is {
			reads++
		}
		return c.Get(ctx, key, object, options...)
	}}).Build()
	b := &bench{polls: make(chan types.NamespacedName, 100), clock: &clock{now: time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)}, reads: &reads}
	b.Receiver = &Receiver{Channels: objects, Secrets: objects, Now: b.clock.Now, Log: logr.Discard(), Poll: func(_ context.Context, key types.NamespacedName) error {
		b.polls <- key
		return nil
	}}
	server := httptest.NewUnstartedServer(b.Handler(t.Context()))
	server.Config = listen.Server(server.Config.Handler)
	b.collect.after = b.clock.after
	server.Start()
	t.Cleanup(server.Close)
	b.url = server.URL
	return b
}

func signed(key, body string) http.Header {
	sum := hmac.New(sha256.New, []byte(key))
	_, _ = sum.Write([]byte(body))
	return http.Header{SignatureHeader: {"sha256=" + hex.EncodeToString(sum.Sum(nil))}}
}

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

// send sends a notification, and returns the answer as text.
func (b *bench) send(t *testing.T, name, body string, header http.Header) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/channels/shop/"+name, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func pushed(repository, action string) string {
	return fmt.Sprintf(`{"events":[{"action":"pull","target":{"repository":"other"}},{"action":%q,"target":{"repository":%q,"tag":"1.0.0"}}]}`, action, repository)
}

// TestNotifications: a poll is made for those who know the secret. To all others, a Channel that exists
// and one that does not are the same.
func TestNotifications(t *testing.T) {
	const body, mine = `{"new":true}`, "delivery/component-descriptors/example.org/shop"
	sum := sha256.Sum256([]byte("example.org/shop"))
	refused := ""
	for _, test := range []struct {
		reason, name, body string
		header             http.Header
		status             int
		polled             bool
	}{
		{"the right HMAC", "hmac", body, signed(secret, body), http.StatusAccepted, true},
		{"the HMAC of an empty body", "hmac", "", signed(secret, ""), http.StatusAccepted, true},
		{"the HMAC of another secret", "hmac", body, signed("fedcba9876543210fedc", body), http.StatusUnauthorized, false},
		{"the HMAC of another body", "hmac", body + " ", signed(secret, body), http.StatusUnauthorized, false},
		{"no HMAC", "hmac", body, http.Header{}, http.StatusUnauthorized, false},
		{"half an HMAC", "hmac", body, http.Header{SignatureHeader: {signed(secret, body).Get(SignatureHeader)[:20]}}, http.StatusUnauthorized, false},
		{"an HMAC that is not a number", "hmac", body, http.Header{SignatureHeader: {"sha256=xyz"}}, http.StatusUnauthorized, false},
		{"a token where an HMAC is wanted", "hmac", body, bearer(secret), http.StatusUnauthorized, false},
		{"a Channel that does not exist", "none", body, signed(secret, body), http.StatusUnauthorized, false},
		{"a Channel without a webhook", "closed", body, signed(secret, body), http.StatusUnauthorized, false},
		{"a Channel whose Secret is missing", "nosecret", body, signed("", body), http.StatusUnauthorized, false},
		{"a secret that can be guessed", "short", body, signed("short", body), http.StatusUnauthorized, false},
		{"the registry says that the component was pushed", "registry", pushed(mine, "push"), bearer(secret), http.StatusAccepted, true},
		{"the name of the repository may be a digest", "registry", pushed("delivery/"+hex.EncodeToString(sum[:]), "push"), bearer(secret), http.StatusAccepted, true},
		{"a version was deleted", "registry", pushed(mine, "delete"), bearer(secret), http.StatusAccepted, true},
		{"a poll reads, and that must not lead to a poll", "registry", pushed(mine, "pull"), bearer(secret), http.StatusAccepted, false},
		{"another component was pushed", "registry", pushed("delivery/component-descriptors/another.example.org/shop", "push"), bearer(secret), http.StatusAccepted, false},
		{"what cannot be read says nothing", "registry", "{", bearer(secret), http.StatusAccepted, false},
		{"another token", "registry", pushed(mine, "push"), bearer("fedcba9876543210fedc"), http.StatusUnauthorized, false},
		{"no token", "registry", pushed(mine, "push"), http.Header{}, http.StatusUnauthorized, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := start(t)
			began := time.Now()
			status, said := b.send(t, test.name, test.body, test.header)
			if status != test.status {
				t.Fatalf("%d", status)
			}
			if status == http.StatusUnauthorized {
				if refused == "" {
					refused = said
				}
				if said != refused || time.Since(began) < refusal {
					t.Errorf("after %s: %q", time.Since(began), said)
				}
			}
			if !test.polled {
				// A poll would be waiting already.
				if b.collect.mutex.Lock(); len(b.collect.waiting)+len(b.collect.last) > 0 {
					t.Error("a poll is made")
				}
				b.collect.mutex.Unlock()
				return
			}
			select {
			case key := <-b.polls:
				if key.Name != test.name {
					t.Errorf("%s is polled", key)
				}
			case <-time.After(time.Minute):
				t.Error("no poll is made")
			}
		})
	}
}

// TestReplay: who has seen a valid notification gets a poll in five seconds, however often it is sent.
func TestReplay(t *testing.T) {
	b, limited := start(t), 0
	for range 3 * burst {
		switch status, _ := b.send(t, "hmac", "x", signed(secret, "x")); status {
		case http.StatusTooManyRequests:
			limited++
		case http.StatusAccepted:
		default:
			t.Fatalf("%d", status)
		}
	}
	<-b.polls
	if limited != 2*burst {
		t.Errorf("%d of %d were limited", limited, 3*burst)
	}
	// What came after the first poll leads to one more, when the time is over.
	kept := b.clock.move(collected)
	if kept > 1 || len(b.polls) != kept {
		t.Errorf("%d polls were kept, %d are made", kept, len(b.polls))
	}
	if *b.reads != 1 {
		t.Errorf("the Secret was read %d times", *b.reads)
	}
}

// TestStrangers: notifications for Channels that do not exist make no request, and a Secret that is
// missing is not looked for each time.
func TestStrangers(t *testing.T) {
	b := start(t)
	for i := range 5 {
		b.send(t, fmt.Sprint("none-", i), "x", http.Header{})
		b.send(t, "nosecret", "x", http.Header{})
	}
	if *b.reads != 1 {
		t.Errorf("Secrets were read %d times", *b.reads)
	}
	b.clock.move(2 * secretLife)
	if b.send(t, "nosecret", "x", http.Header{}); *b.reads != 2 {
		t.Errorf("a Secret that was created later is not found: %d reads", *b.reads)
	}
}

// TestLargeBody: a body is not read beyond its limit, whether or not it says how long it is.
func TestLargeBody(t *testing.T) {
	b := start(t)
	large := strings.Repeat("x", maxBody+1)
	if status, _ := b.send(t, "hmac", large, signed(secret, large)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("%d", status)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+"/channels/shop/hmac", io.MultiReader(strings.NewReader(large)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = signed(secret, large)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("in pieces: %d", response.StatusCode)
	}
	if status, _ := b.send(t, "hmac", large[1:], signed(secret, large[1:])); status != http.StatusAccepted {
		t.Errorf("at the limit: %d", status)
	}
}

// TestSlowClients: clients that begin a body and do not end it take a bounded number of places, and end.
func TestSlowClients(t *testing.T) {
	b := start(t)
	var slow []net.Conn
	for range maxReading {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(b.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // the test is over
		// One client has a limit of its own before.
		b.clock.move(time.Second)
		if _, err := fmt.Fprintf(conn, "POST /channels/shop/hmac HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nx"); err != nil {
			t.Fatal(err)
		}
		slow = append(slow, conn)
	}
	deadline := time.After(time.Minute)
	for len(b.reading) < maxReading {
		select {
		case <-deadline:
			t.Fatalf("%d bodies are read", len(b.reading))
		case <-time.After(10 * time.Millisecond):
		}
	}
	b.clock.move(time.Minute)
	if status, _ := b.send(t, "hmac", "x", signed(secret, "x")); status != http.StatusServiceUnavailable {
		t.Errorf("%d", status)
	}
	for _, conn := range slow {
		if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(conn); err != nil {
			t.Errorf("a slow client is not ended: %v", err)
		}
	}
	if status, _ := b.send(t, "hmac", "x", signed(secret, "x")); status != http.StatusAccepted {
		t.Errorf("afterwards: %d", status)
	}
}
