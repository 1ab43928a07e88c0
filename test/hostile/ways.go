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
	packed() // before anything is measured
	return append(anyConnection(), anyAnswer()...)
}

// anyConnection are the ways that break the connection.
func anyConnection() []Way {
	return []Way{
		{Name: "silent-handshake", Reason: "a connection that never says anything", Connection: func(_ *Server, c net.Conn) { _, _ = io.Copy(io.Discard, c) }},
		{Name: "hangs-up", Reason: "a connection that ends at once", Connection: func(*Server, net.Conn) {}},
		{Name: "endless-headers", Reason: "headers without end", Handshake: true, Connection: endlessHeaders},
		{Name: "endless-interim", Reason: "interim answers without end", Handshake: true, Connection: endlessInterim},
		{Name: "no-tls", Reason: "an answer without TLS", Connection: func(_ *Server, c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n"+Canary) }},
		{Name: "endless-handshake", Reason: "a handshake that never ends", Connection: func(s *Server, c net.Conn) { s.pour(c, []byte("\x16\x03\x03\x40\x00"+strings.Repeat("\x00", 16<<10))) }},
		{Name: "slow-headers", Reason: "headers of one byte now and then", Handshake: true, Connection: slowHeaders},
		{Name: "endless-chunks", Reason: "pieces of nothing but their descriptions", Handshake: true, Connection: endlessChunks},
		{Name: "endless-trailers", Reason: "a short answer with headers without end behind it", Handshake: true, Connection: endlessTrailers},
		{Name: "two-lengths", Reason: "an answer with two lengths", Handshake: true, Connection: func(_ *Server, c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 9999999999\r\n\r\n{}")
		}},
		{Name: "h2-pings", Reason: "pings without end", Handshake: true, Protocol: "h2", Connection: func(s *Server, c net.Conn) {
			s.frames(c, frame(framePing, 0, "12345678"))
		}},
		{Name: "h2-settings", Reason: "settings without end", Handshake: true, Protocol: "h2", Connection: func(s *Server, c net.Conn) {
			s.frames(c, frame(frameSettings, 0, ""))
		}},
		{Name: "h2-headers", Reason: "headers without end", Handshake: true, Protocol: "h2", Connection: func(s *Server, c net.Conn) {
			_, _ = io.WriteString(c, frame(frameSettings, 0, "")+frame(frameHeaders, 1, "\x88"))
			s.frames(c, frame(frameContinuation, 1, "\x00\x01a\x01b"))
		}},
		{Name: "h2-goodbye", Reason: "a server that always asks for another connection", Handshake: true, Protocol: "h2", Connection: func(s *Server, c net.Conn) {
			_, _ = io.WriteString(c, frame(frameSettings, 0, "")+frame(frameGoAway, 0, "\x00\x00\x00\x00\x00\x00\x00\x00"))
		}},
	}
}

// anyAnswer are the ways that answer.
func anyAnswer() []Way {
	return []Way{
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
		{Name: "tells", Reason: "an error that repeats the credentials and the request", Serve: tells},
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

func slowHeaders(s *Server, c net.Conn) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for text := "HTTP/1.1 200 OK\r\nX: "; ; text = "y" {
		if _, err := io.WriteString(c, text); err != nil {
			return
		}
		select {
		case <-s.world.context.Done():
			return
		case <-tick.C:
		}
	}
}

const chunked = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"

func endlessChunks(s *Server, c net.Conn) {
	if _, err := io.WriteString(c, chunked); err == nil {
		s.pour(c, []byte(strings.Repeat("1;"+strings.Repeat("x", 2000)+"\r\n \r\n", 30)))
	}
}

func endlessTrailers(s *Server, c net.Conn) {
	if _, err := io.WriteString(c, chunked+"2\r\n{}\r\n0\r\n"); err == nil {
		s.pour(c, []byte(strings.Repeat("X-More: "+strings.Repeat("y", 1000)+"\r\n", 60)))
	}
}

// Types of the frames of HTTP/2.
const (
	frameHeaders      = 1
	frameSettings     = 4
	framePing         = 6
	frameGoAway       = 7
	frameContinuation = 9
)

// frame is one of HTTP/2.
func frame(kind, stream byte, content string) string {
	size := len(content)
	return string([]byte{byte(size >> 16), byte(size >> 8), byte(size), kind, 0, 0, 0, 0, stream}) + content
}

// frames sends a frame without end, and reads what it is answered.
func (s *Server) frames(c net.Conn, one string) {
	go func() { _, _ = io.Copy(io.Discard, c) }()
	if _, err := io.WriteString(c, frame(frameSettings, 0, "")); err == nil {
		s.pour(c, []byte(strings.Repeat(one, 1000)))
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

// tells repeats all that the client has sent.
func tells(_ *Server, w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 64<<10))
	message := fmt.Sprintf("%s: %s: %s", Canary, r.Header.Get("Authorization"), body)
	status(w, http.StatusUnprocessableEntity, "Invalid", message)
}
