// Creates pods as fast as the API server takes them, from several clients with a connection each, and prints how long
// that took as one JSON line. The pods stay: the caller removes them (createpods -delete), so that no turn of a
// comparison meets the pods of the one before.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A GPU pod as a team would send it. No scheduler of this name exists: the pods are stored and nothing else happens.
const podTemplate = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","labels":{"app":"embed","team":"nlp",` +
	`"podium.gpu/workload-type":"batch"},"annotations":{"example.com/owner":"team-nlp"}},"spec":{"schedulerName":"none",` +
	`"restartPolicy":"Never","containers":[{"name":"worker","image":"registry.example.com/embed:2.1","args":["--shard","7"],` +
	`"env":[{"name":"BATCH","value":"64"},{"name":"OUTPUT","value":"/data/out"}],"resources":{"limits":{"cpu":"4",` +
	`"memory":"32Gi","nvidia.com/gpu":"1"}},"volumeMounts":[{"name":"data","mountPath":"/data"}]}],` +
	`"volumes":[{"name":"data","emptyDir":{}}]}}`

type options struct {
	server, ca, certificate, key, namespace string
	clients, pods                           int
	remove                                  bool
}

func parseOptions() options {
	var o options
	flag.StringVar(&o.server, "server", "", "https://HOST:PORT of the API server")
	flag.StringVar(&o.ca, "ca", "", "CA of the API server")
	flag.StringVar(&o.certificate, "cert", "", "client certificate")
	flag.StringVar(&o.key, "key", "", "key of the client certificate")
	flag.StringVar(&o.namespace, "namespace", "bench", "namespace, without a quota")
	flag.IntVar(&o.clients, "clients", 8, "clients at once, a connection each")
	flag.IntVar(&o.pods, "pods", 2000, "pods in all")
	flag.BoolVar(&o.remove, "delete", false, "remove all pods of the namespace instead")
	flag.Parse()
	return o
}

// One client, one transport: its own keep-alive connection, as separate controllers and users have.
func newClient(o options) (*http.Client, error) {
	pair, err := tls.LoadX509KeyPair(o.certificate, o.key)
	if err != nil {
		return nil, err
	}
	pem, err := os.ReadFile(o.ca)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate", o.ca)
	}
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}},
		ForceAttemptHTTP2: true,
	}
	return &http.Client{Transport: transport, Timeout: 60 * time.Second}, nil
}

func send(client *http.Client, method, url string, body []byte, wanted int) error {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != wanted {
		err = fmt.Errorf("%s %s: %s: %.500s", method, url, response.Status, text)
	}
	return err
}

// createAll hands the pods out to the clients one by one and returns each call's time, sorted, and the whole time.
func createAll(o options, url string, clients []*http.Client) ([]time.Duration, time.Duration, error) {
	var next, failed atomic.Int64
	var firstError error
	var once sync.Once
	took := make([]time.Duration, o.pods)
	var group sync.WaitGroup
	start := time.Now()
	for _, client := range clients {
		group.Go(func() {
			for i := next.Add(1) - 1; i < int64(o.pods) && failed.Load() == 0; i = next.Add(1) - 1 {
				body := fmt.Appendf(nil, podTemplate, fmt.Sprintf("embed-%d", i))
				began := time.Now()
				if err := send(client, http.MethodPost, url, body, http.StatusCreated); err != nil {
					failed.Add(1)
					once.Do(func() { firstError = err })
				}
				took[i] = time.Since(began)
			}
		})
	}
	group.Wait()
	whole := time.Since(start)
	slices.Sort(took)
	return took, whole, firstError
}

func run() error {
	o := parseOptions()
	url := o.server + "/api/v1/namespaces/" + o.namespace + "/pods"
	clients := make([]*http.Client, o.clients)
	for i := range clients {
		client, err := newClient(o)
		if err != nil {
			return err
		}
		// The handshake is not part of the figure.
		if err := send(client, http.MethodGet, o.server+"/version", nil, http.StatusOK); err != nil {
			return err
		}
		clients[i] = client
	}
	if o.remove {
		return send(clients[0], http.MethodDelete, url+"?gracePeriodSeconds=0", nil, http.StatusOK)
	}
	took, whole, err := createAll(o, url, clients)
	if err != nil {
		return err
	}
	milliseconds := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"pods":            o.pods,
		"seconds":         whole.Seconds(),
		"pods_per_second": float64(o.pods) / whole.Seconds(),
		"p50_ms":          milliseconds(took[len(took)/2]),
		"p99_ms":          milliseconds(took[len(took)*99/100]),
	})
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "createpods:", err)
		os.Exit(1)
	}
}
