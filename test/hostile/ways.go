package hostile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// anyRequest are ways that need to know nothing of what is asked.
func anyRequest() []Way {
	return []Way{
		{Name: "silent-handshake", Reason: "a connection that never says anything", Connection: func(_ *Server, c net.Conn) { _, _ = io.Copy(io.Discard, c) }},
		{Name: "hangs-up", Reason: "a connection that ends at once", Connection: func(*Server, net.Conn) {}},
		{Name: "endless-headers", Reason: "headers without end", Handshake: true, Connection: endlessHeaders},
		{Name: "endless-interim", Reason: "interim answers without end", Handshake: true, Connection: endlessInterim},
		{Name: "hanging-headers", Reason: "a request that is never answered", Serve: func(s *Server, _ http.ResponseWriter, r *http.Request) { <-s.ended(r) }},
		{Name: "drip", Reason: "an answer of one byte now and then", Serve: drip},
		{Name: "endless-body", Reason: "a list without end", Serve: endlessBody},
		{Name: "endless-error", Reason: "an error with a text without end", Serve: func(s *Server, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			s.pour(w, bytes.Repeat([]byte("no "), 10_000))
		}},
		{Name: "bomb", Reason: "a small answer that unpacks to a large one", Serve: bomb},
		{Name: "truncated", Reason: "a packed answer that ends too early", Serve: truncated},
		{Name: "short", Reason: "an answer that is shorter than it says", Serve: func(_ *Server, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000000")
			_, _ = io.WriteString(w, "{")
		}},
		{Name: "deep", Reason: "an answer that is nested without end", Serve: func(s *Server, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(bytes.Repeat([]byte(`{"a":`), 2<<20))
		}},
		{Name: "html", Reason: "an answer of another type", Serve: func(_ *Server, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>"+Canary+"</html>")
		}},
		{Name: "not-its-type", Reason: "an answer that is not of the type that it claims", Serve: func(_ *Server, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
			_, _ = io.WriteString(w, "k8s\x00"+Canary)
		}},
		{Name: "redirect", Reason: "a redirect to another host, without TLS", Serve: func(s *Server, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, s.Witness(), http.StatusTemporaryRedirect)
		}},
		{Name: "redirect-loop", Reason: "redirects without end", Serve: func(s *Server, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, fmt.Sprintf("%s/%d", s.URL(), s.Requests()), http.StatusPermanentRedirect)
		}},
		{Name: "too-many-requests", Reason: "a server that always wants to be asked later", Serve: func(_ *Server, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "later", http.StatusTooManyRequests)
		}},
		{Name: "come-back-tomorrow", Reason: "a server that wants to be asked much later", Serve: func(_ *Server, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "86400")
			http.Error(w, "later", http.StatusServiceUnavailable)
		}},
		{Name: "always-500", Reason: "a server that always fails", Serve: func(_ *Server, w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "fails", http.StatusInternalServerError)
		}},
		{Name: "tells", Reason: "an error that repeats the credentials and what was sent", Serve: tells},
	}
}

func endlessHeaders(s *Server, c net.Conn) {
	if _, err := fmt.Fprint(c, "HTTP/1.1 200 OK\r\n"); err == nil {
		s.pour(c, []byte(strings.Repeat("X-More: "+strings.Repeat("y", 1000)+"\r\n", 100)))
	}
}

func endlessInterim(s *Server, c net.Conn) {
	s.pour(c, []byte(strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 1000)))
}

func drip(s *Server, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	ended, tick := s.ended(r), time.NewTicker(500*time.Millisecond)
	defer tick.Stop()
	for text := "{"; ; text = " " {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-ended:
			return
		case <-tick.C:
		}
	}
}

// endlessItem is a part of a list that never ends.
var endlessItem = []byte(strings.Repeat(`{"metadata":{"name":"a","namespace":"b"},"data":{"x":"`+strings.Repeat("x", 900)+`"}},`, 60))

func endlessBody(s *Server, w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[`)
	s.pour(w, endlessItem)
}

// packed is 1 GiB of blanks in a JSON object, packed to 1 MiB.
var packed = sync.OnceValue(func() []byte {
	var buffer bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&buffer, gzip.BestSpeed) // the level exists
	blanks := bytes.Repeat([]byte(" "), 1<<20)
	_, _ = writer.Write([]byte(`{"kind":"ConfigMap","apiVersion":"v1","data":`))
	for range 1 << 10 {
		_, _ = writer.Write(blanks)
	}
	_ = writer.Close()
	return buffer.Bytes()
})

func bomb(s *Server, w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(packed())
}

func truncated(_ *Server, w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(packed()[:1000])
}

// tells repeats all that it was told.
func tells(_ *Server, w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	message := fmt.Sprintf("%s: %s: %s", Canary, r.Header.Get("Authorization"), body)
	status(w, http.StatusUnprocessableEntity, "Invalid", message)
}
